import { backOff, pause } from '../../processing/retry.js';
import type { Member } from '../produce/requests.js';

const retry = { initialMs: 100, maxMs: 2_000 };

interface ConfirmationOptions {
  /** Whether the partition’s committed offset still bears this consumer’s writer id. */
  readonly isOurs: (key: string) => Promise<boolean>;
  /** No other consumer owned the partitions in between, except the `lost` ones: the others go on. */
  readonly confirmed: (member: Member, lost: readonly string[]) => void;
  readonly failed: (error: unknown) => void;
  readonly leaving: AbortSignal;
}

/**
 * Whether a consumer owned its retained partitions without interruption. It did if the new generation directly
 * follows the last one it was sure of. Otherwise another consumer may have owned them in between and left its writer
 * id at their committed offsets; until those are read, nothing may be committed.
 */
export class Confirmation {
  /** The member of the present generation, and of the last one that was confirmed. */
  private member: Member | undefined;
  private sure: Member | undefined;

  constructor(private readonly options: ConfirmationOptions) {}

  /** After a rebalance; `stayed` are the partitions that this consumer owned before. */
  given(member: Member, stayed: readonly string[]): void {
    this.member = member;
    const isNext = member.memberId === this.sure?.memberId && member.generation === this.sure.generation + 1;
    if (isNext || stayed.length === 0) this.confirm(member, []);
    else void this.ask(member, stayed);
  }

  private async ask(member: Member, stayed: readonly string[]): Promise<void> {
    const { isOurs, failed, leaving } = this.options;
    const isOver = (): boolean => this.member !== member || leaving.aborted;
    for (let attempt = 1; !isOver(); attempt++) {
      try {
        const ours = await Promise.all(stayed.map(isOurs));
        if (!isOver())
          this.confirm(
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

  private confirm(member: Member, lost: readonly string[]): void {
    this.sure = member;
    this.options.confirmed(member, lost);
  }
}
