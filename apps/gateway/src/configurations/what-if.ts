import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { authorizers } from '@sluice/authorization';
import { compileEvaluator } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { differingDecisions, everything, toolNames, whatIf, WhatIfCounts } from '@sluice/replay';
import type { DifferingDecision } from '@sluice/replay';
import { Busy, openVerifier, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';

/** Questions that are answered at a time: each of them reads the log. */
const mostAtOnce = 2;
/** So often a stream says how far it is, milliseconds. */
const progressMs = 500;

/** Which decisions are made again, and for how long at most. */
export interface WhatIfQuestion {
  readonly candidate: Configuration;
  /** Milliseconds since the epoch; `until` is not included. */
  readonly since: number;
  readonly until: number;
  readonly tenant: string | null;
  readonly session: string | null;
  /** A tool’s id or key. */
  readonly tool: string | null;
  /** Rows that are given, at most. All are counted. */
  readonly limit: number;
  readonly longestMs: number;
}

/** What a question about a candidate finds, in order: the summary is the last. */
export type WhatIfEvent =
  | { readonly type: 'progress'; readonly considered: number; readonly altered: number }
  | ({ readonly type: 'decision' } & DifferingDecision)
  | ({ readonly type: 'summary' } & WhatIfEnd);

/** How it came out. */
export interface WhatIfEnd extends ReturnType<WhatIfCounts['summary']> {
  readonly config_version: string;
  readonly since: number;
  readonly until: number;
  readonly undecodable: number;
  /** Rows that were counted and not given. */
  readonly left_out: number;
  /** Whether all selected decisions were looked at: the time may have been up before. */
  readonly is_whole: boolean;
}

/** Makes recorded decisions again under candidates, so many at a time, and never beyond the gateway’s end. */
@Injectable()
export class WhatIfs implements OnModuleDestroy {
  private readonly underWay = new Set<AbortController>();
  private isStopping = false;

  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {}

  onModuleDestroy(): void {
    this.isStopping = true;
    for (const one of this.underWay) one.abort();
  }

  /** Room for one question; end it by its signal and give it back with `end`. Throws Busy where there is none. */
  begin(): AbortController {
    if (this.underWay.size >= mostAtOnce || this.isStopping)
      throw new Busy(`This gateway looks at ${mostAtOnce} candidates already. Try again in a moment.`);
    const one = new AbortController();
    this.underWay.add(one);
    return one;
  }

  end(one: AbortController): void {
    one.abort();
    this.underWay.delete(one);
  }

  /** Ends without a summary where the signal aborts. */
  async *events(question: WhatIfQuestion, signal: AbortSignal): AsyncGenerator<WhatIfEvent, void, undefined> {
    const { candidate, since, until, limit } = question;
    const time = AbortSignal.timeout(question.longestMs);
    const stop = AbortSignal.any([signal, time]);
    const counts = new WhatIfCounts();
    let undecodable = 0;
    let left = 0;
    let given = 0;
    const found = (await this.found(question, stop, () => undecodable++))[Symbol.asyncIterator]();
    try {
      let next = found.next();
      let tick = delay(progressMs, 'tick' as const, { ref: false });
      for (;;) {
        const one = await Promise.race([next, tick]);
        if (one === 'tick') {
          tick = delay(progressMs, 'tick' as const, { ref: false });
          yield { type: 'progress', considered: counts.considered, altered: counts.altered };
          continue;
        }
        if (one.done === true) break;
        const rows = differingDecisions(one.value);
        counts.add(one.value, rows);
        for (const row of rows.slice(0, limit - given)) yield { type: 'decision', ...row };
        left += Math.max(0, rows.length - (limit - given));
        given = Math.min(limit, given + rows.length);
        next = found.next();
      }
    } finally {
      await found.return?.(undefined);
    }
    if (signal.aborted) return;
    const about = { config_version: candidate.version, since, until, undecodable, left_out: left };
    yield { type: 'summary', ...about, ...counts.summary(), is_whole: !time.aborted };
  }

  /** This thread does it, and lets others have it after each run. */
  private async found(question: WhatIfQuestion, signal: AbortSignal, onUndecodable: () => void) {
    const { bus, environment, signatures } = this.runtime;
    const { candidate, since: from, until: to, tenant, session, tool } = question;
    const names = tool === null ? null : await toolNames(bus, tool, signal);
    return whatIf(bus, {
      candidate: compileEvaluator(candidate),
      verifier: openVerifier(environment, signatures),
      selection: { ...everything, from, to, tenant, session, tool: names },
      authorizerOf: authorizers((variable) => environment.secret(variable)),
      ...{ signal, onUndecodable },
    });
  }
}
