import { maxCarriedBytes } from '../port.js';
import type { Subscription } from '../port.js';

/**
 * Whether the text that a partition carries means anything, and so the records of a partition are handled one after
 * another.
 */
export function keepsPartitionOrder({ order }: Pick<Subscription, 'order'>): boolean {
  return order === 'partition';
}

/** The lane that a record runs in: its session’s, or the one of its partition. */
export function laneOf(
  session: string,
  { topic, partition }: { readonly topic: string; readonly partition: number },
  subscription: Pick<Subscription, 'order'>,
): string {
  return keepsPartitionOrder(subscription) ? `${topic}/${partition}` : session;
}

/** What one attempt on a record finds and leaves; what a failed attempt left is forgotten with it. */
export class Carrying {
  private _left: string;

  /** `found` is null where sessions are the order. */
  constructor(private readonly found: string | null) {
    this._left = found ?? '';
  }

  get carried(): string {
    return this.found ?? '';
  }

  /** What the next record of the partition finds. */
  get left(): string {
    return this._left;
  }

  leave(text: string): void {
    if (this.found === null)
      throw new RangeError("Only a subscription with order: 'partition' carries a text from record to record.");
    const bytes = Buffer.byteLength(text);
    if (bytes > maxCarriedBytes)
      throw new RangeError(`A partition carries ${maxCarriedBytes} bytes at most, and this text has ${bytes}.`);
    this._left = text;
  }
}
