import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';

/** Calls of one caller under way at a time, in this process. */
const mostAtOnce = 64;
const minuteMs = 60_000;

type Admission = { readonly refused: string } | { readonly done: () => void };

/** How much one caller may ask for, whatever its tools’ budgets say. */
@Injectable()
export class Limits {
  private readonly underWay = new Map<string, number>();

  constructor(@Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'rates' | 'environment'>) {}

  /** Counts the call, and says when to try again where it is one too many (M-81). */
  async admit({ tenantId, actorId }: Principal): Promise<Admission> {
    const caller = JSON.stringify([tenantId, actorId]);
    const underWay = this.underWay.get(caller) ?? 0;
    if (underWay >= mostAtOnce)
      return { refused: `This caller has ${mostAtOnce} calls under way already. Try again when one has ended.` };
    this.underWay.set(caller, underWay + 1);
    const { mcpCallsPerMinute: limit } = this.runtime.environment;
    try {
      if (limit > 0) {
        const answer = await this.runtime.rates.take({ key: `mcp/${caller}`, limit, windowMs: minuteMs });
        if (!answer.within) {
          this.done(caller);
          const seconds = Math.max(1, Math.ceil(answer.retryAfterMs / 1_000));
          return { refused: `This caller may make ${limit} calls in a minute. Try again in ${seconds} s.` };
        }
      }
    } catch (error) {
      this.done(caller);
      throw error;
    }
    return { done: () => this.done(caller) };
  }

  private done(caller: string): void {
    const left = (this.underWay.get(caller) ?? 1) - 1;
    if (left > 0) this.underWay.set(caller, left);
    else this.underWay.delete(caller);
  }
}
