import { Fault } from '@sluice/core';

/**
 * Whether a partition’s log still reaches as far as its group has come, over all takeovers by this process. A log
 * that was cut back gets new records at places that count as finished, and they would be skipped without a word.
 * Where to begin instead only an operator can say: the records that are there may have been handled (a leader was
 * elected that had lost some) or not (the topic was deleted and made again).
 */
export class TruncationCheck {
  private short: { readonly done: number; readonly end: number; readonly grew: boolean } | undefined;

  /**
   * `done` is past the last offset that is finished, and `end` where the log ends. Throws a Fault that says what to
   * do if it is before.
   */
  assert(group: string, place: string, done: number, end: number): void {
    const before = this.short?.done === done ? this.short : undefined;
    // A leader that is behind gets no new records; the next answer has all of them. A log that grows and is still too
    // short was cut.
    const grew = before !== undefined && (before.grew || (end < done && end > before.end));
    if (end >= done && !grew) {
      this.short = undefined;
      return;
    }
    this.short = { done, end: before?.end ?? end, grew };
    throw new Fault(
      'storage',
      `The log of ${place} ended at ${this.short.end}, and the group ${group} has finished ${done}: records were lost, or the topic was created ` +
        'again. Nothing is read of it, because new records at finished offsets would be skipped. A leader that is behind comes round by ' +
        'itself; else set the offset of the group back before anything is restarted, as docs/operations.md says (Disaster recovery).',
      false,
    );
  }
}
