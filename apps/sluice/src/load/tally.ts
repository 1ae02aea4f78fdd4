import type { LoadRequest } from './asking.js';
import { Latencies } from './latencies.js';

interface Sent {
  readonly kind: string;
  readonly expect: readonly string[];
  readonly at: number;
}

/** What a load has sent, with the results. Times are those of `performance.now()`. */
export class Tally {
  readonly outcomes = new Map<string, Latencies>();
  readonly kinds = new Map<string, { sent: number; ended: number; unexpected: number }>();
  /** Tool calls by outcome, as the steps tell. */
  readonly calls = new Map<string, number>();
  readonly decisions = { approve: 0, refuse: 0 };
  readonly all = new Latencies();
  /** Runs that ended otherwise than their kind should, by kind and outcome. */
  readonly surprises = new Map<string, number>();
  sent = 0;
  private readonly open = new Map<string, Sent>();

  get inFlight(): number {
    return this.open.size;
  }

  get unexpected(): number {
    return [...this.surprises.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How long the oldest request has waited, in milliseconds. */
  oldest(now: number): number {
    const [first] = this.open.values();
    return first === undefined ? 0 : now - first.at;
  }

  asks({ kind, expect, request }: LoadRequest, at: number): void {
    this.sent++;
    this.kindOf(kind).sent++;
    this.open.set(request.requestId, { kind, expect, at });
  }

  /** Its milliseconds; null if it is none of this load's, or had ended. */
  ends(requestId: string, outcome: string, at: number): number | null {
    const sent = this.open.get(requestId);
    if (sent === undefined) return null;
    this.open.delete(requestId);
    const ms = at - sent.at;
    this.all.add(ms);
    this.latenciesOf(outcome).add(ms);
    const kind = this.kindOf(sent.kind);
    kind.ended++;
    if (!sent.expect.includes(outcome)) {
      kind.unexpected++;
      const name = `${sent.kind}: ${outcome}`;
      this.surprises.set(name, (this.surprises.get(name) ?? 0) + 1);
    }
    return ms;
  }

  called(outcome: string): void {
    this.calls.set(outcome, (this.calls.get(outcome) ?? 0) + 1);
  }

  private kindOf(name: string) {
    let kind = this.kinds.get(name);
    if (kind === undefined) this.kinds.set(name, (kind = { sent: 0, ended: 0, unexpected: 0 }));
    return kind;
  }

  private latenciesOf(outcome: string): Latencies {
    let latencies = this.outcomes.get(outcome);
    if (latencies === undefined) this.outcomes.set(outcome, (latencies = new Latencies()));
    return latencies;
  }
}
