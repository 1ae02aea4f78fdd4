import { backOff, pause } from '../../processing/retry.js';
import type { Member } from '../produce/requests.js';

const retry = { initialMs: 100, maxMs: 2_000 };

export interface ConfirmationOptions {
  /** Whether the partition’s offset still bears this consumer’s name. */
  readonly isOurs: (key: string) => Promise<boolean>;
  /** Nobody else had the partitions in between, but for the `lost` ones: the others go on. */
  readonly confirmed: (member: Member, lost: readonly string[]) => void;
  readonly failed: (error: unknown) => void;
  readonly leaving: AbortSignal;
}

/**
 * Whether partitions that a consumer has again after a rebalance were its own all the time. They were if the rebalance is the next one to the last
 * that it was sure of. Else the group may have given them to somebody else in between, who has put a name at their offsets; until it is known whose
 * that is, nothing may be committed.
 */
export class Confirmation {
  /** As whom the group knows it now, and knew it when it was last sure. */
  #member: Member | undefined;
  #sure: Member | undefined;

  constructor(private readonly options: ConfirmationOptions) {}

  /** The group has given out its partitions, of which `stayed` were this consumer’s before. */
  given(member: Member, stayed: readonly string[]): void {
    this.#member = member;
    const isNext = member.memberId === this.#sure?.memberId && member.generation === this.#sure.generation + 1;
    if (isNext || stayed.length === 0) this.#confirm(member, []);
    else void this.#ask(member, stayed);
  }

  async #ask(member: Member, stayed: readonly string[]): Promise<void> {
    const { isOurs, failed, leaving } = this.options;
    const isOver = (): boolean => this.#member !== member || leaving.aborted;
    for (let attempt = 1; !isOver(); attempt++) {
      try {
        const ours = await Promise.all(stayed.map(isOurs));
        if (!isOver())
          this.#confirm(
            member,
            stayed.filter((_, index) => !ours[index]),
          );
        return;
      } catch (error) {
        failed(error);
        await pause(backOff(attempt, retry), leaving);
      }
    }
  }

  #confirm(member: Member, lost: readonly string[]): void {
    this.#sure = member;
    this.options.confirmed(member, lost);
  }
}
