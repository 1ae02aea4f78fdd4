import { isDeepStrictEqual } from 'node:util';
import { isConcurrentTransactions } from '../kafkajs/failure.js';
import type { OffsetCommit } from '../produce/requests.js';
import type { TransactionalProducer } from '../produce/transactional-producer.js';

/** A transaction waits no longer for its record, milliseconds: it begins again when that has finished. */
const patienceMs = 50;

interface EarlyOffsetOptions {
  readonly producer: TransactionalProducer;
  /** The transaction could not be abandoned: its outcome is unknown. */
  readonly failed: (error: unknown) => void;
}

/** How a request ended: the offset is in the transaction, or certainly is not, or that is unknown. */
type Sent = 'there' | 'refused' | 'unknown';

/**
 * Begins a transaction while the record that it is for is being handled. The offset that will stand when the record
 * has finished goes ahead, which takes as long as all that follows; nothing of it counts before the commit. If it
 * takes longer, or the offset is another one, nothing is lost but the request. Only for a producer whose transactions
 * have epochs: otherwise a late request of an abandoned one could get into the next.
 */
export class EarlyOffset {
  private open: { readonly commit: OffsetCommit; readonly sent: Promise<Sent> } | undefined;
  private patience: NodeJS.Timeout | undefined;
  private givingUp: Promise<void> | undefined;

  constructor(private readonly options: EarlyOffsetOptions) {}

  /** Of one partition. False if another one is under way. */
  begin(commit: OffsetCommit): boolean {
    if (this.open !== undefined || this.givingUp !== undefined) return false;
    const sent = this.send(commit);
    this.open = { commit, sent };
    this.patience = setTimeout(() => {
      // Before the next transaction, the end of the abandoned one must be known.
      this.givingUp = this.giveUp(sent)
        .catch((error: unknown) => {
          this.options.failed(error);
          throw error;
        })
        .finally(() => (this.givingUp = undefined));
      this.givingUp.catch(() => undefined);
    }, patienceMs);
    return true;
  }

  /**
   * Whether all that is due is in the transaction already; if not, nothing else is that what is due does not replace.
   * The producer is free for others once it has resolved; the outcome of its transaction is unknown if this rejects.
   */
  async take(due: OffsetCommit): Promise<boolean> {
    await this.givingUp;
    const open = this.open;
    this.forget();
    if (open === undefined) return false;
    const sent = await open.sent;
    const isSame = isDeepStrictEqual(open.commit, due);
    const isInTheWay = sent === 'unknown' ? !isSame : sent === 'there' && !isReplaced(open.commit, due);
    // A request with an unknown outcome may arrive yet, and behind the one that is due: only the next epoch keeps it
    // out.
    if (isInTheWay) await this.options.producer.abort();
    return sent === 'there' && isSame;
  }

  /**
   * Begins and abandons nothing more; resolves when no request is under way. The transaction is left to the consumer
   * that fences.
   */
  async drop(): Promise<void> {
    const sent = this.open?.sent;
    this.forget();
    await Promise.allSettled([sent, this.givingUp]);
  }

  private forget(): void {
    clearTimeout(this.patience);
    this.open = undefined;
  }

  /** What is in the way is met again where the offset is due, and dealt with there. */
  private send(commit: OffsetCommit): Promise<Sent> {
    return this.options.producer.sendOffsets(commit).then(
      () => 'there',
      (error: unknown) => (isConcurrentTransactions(error) ? 'refused' : 'unknown'),
    );
  }

  private async giveUp(sending: Promise<Sent>): Promise<void> {
    const sent = await sending;
    this.forget();
    if (sent !== 'refused') await this.options.producer.abort();
  }
}

/** Whether each of its partitions has an offset in what is due. */
function isReplaced({ offsets }: OffsetCommit, due: OffsetCommit): boolean {
  return offsets.every(({ topic, partition }) =>
    due.offsets.some((one) => one.topic === topic && one.partition === partition),
  );
}
