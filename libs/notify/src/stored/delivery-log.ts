import { claimMemoryMs } from '@sluice/core';
import type { Documents } from '@sluice/core';

/** An attempt at a delivery. */
interface LoggedDelivery {
  readonly id: string;
  readonly event: string;
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Why it was not received; null where it was. */
  readonly failure: string | null;
}

/** The latest attempts that are kept. */
const mostKept = 50;
const tries = 5;

const placeOf = (receiver: string): string => `notify/deliveries/${receiver}`;

/** The latest attempts of one receiver, for people to look at: what is lost of them is lost. */
export class DeliveryLog {
  private waiting: LoggedDelivery[] = [];
  private writing: Promise<void> | null = null;

  constructor(
    private readonly receiver: string,
    private readonly documents: Pick<Documents, 'find' | 'put'>,
  ) {}

  note(delivery: LoggedDelivery): void {
    this.waiting = [...this.waiting, delivery].slice(-mostKept);
  }

  /** Writes what was noted since. Never rejects. */
  async write(now: number): Promise<void> {
    if (this.waiting.length === 0 || this.writing !== null) return this.writing ?? undefined;
    this.writing = this.add(now).catch(() => undefined);
    await this.writing;
    this.writing = null;
  }

  private async add(now: number): Promise<void> {
    const added = this.waiting;
    this.waiting = [];
    for (let attempt = 0; attempt < tries; attempt++) {
      const found = await this.documents.find(placeOf(this.receiver));
      const kept = [...deliveriesIn(found?.text), ...added].slice(-mostKept);
      const version = (found?.version ?? 0) + 1;
      if (await this.documents.put(placeOf(this.receiver), version, JSON.stringify(kept), now + claimMemoryMs)) return;
    }
  }
}

/** The latest first. */
export async function latestDeliveries(
  receiver: string,
  documents: Pick<Documents, 'find'>,
): Promise<readonly LoggedDelivery[]> {
  return deliveriesIn((await documents.find(placeOf(receiver)))?.text).toReversed();
}

function deliveriesIn(text: string | undefined): readonly LoggedDelivery[] {
  return text === undefined ? [] : (JSON.parse(text) as readonly LoggedDelivery[]);
}
