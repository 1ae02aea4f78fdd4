import type { Paint } from '../show/paint.js';
import { Latencies } from './latencies.js';
import type { Tally } from './tally.js';

/** What the figures of the last moments are of, in milliseconds. */
const windowMs = 5_000;

/** The figures of a load while it runs: a view that is drawn again in a terminal, a line now and then elsewhere. */
export class Board {
  private drawn = 0;
  private from: { readonly at: number; readonly sent: number; readonly ended: number };
  private window = new Latencies();
  private last = { sentRate: 0, endedRate: 0, p50: null as number | null, p99: null as number | null };

  constructor(
    private readonly tally: Tally,
    private readonly paint: Paint,
    private readonly write: (text: string) => void,
    now: number,
  ) {
    this.from = { at: now, sent: 0, ended: 0 };
  }

  ended(ms: number): void {
    this.window.add(ms);
  }

  /** Once in a while; closes a window that is over. True if it closed one. */
  tick(now: number): boolean {
    const { at, sent, ended } = this.from;
    const seconds = (now - at) / 1_000;
    if (now - at < windowMs) return false;
    this.last = {
      sentRate: (this.tally.sent - sent) / seconds,
      endedRate: (this.tally.all.count - ended) / seconds,
      p50: this.window.quantile(0.5),
      p99: this.window.quantile(0.99),
    };
    this.from = { at: now, sent: this.tally.sent, ended: this.tally.all.count };
    this.window = new Latencies();
    return true;
  }

  line(elapsedMs: number, now: number): void {
    this.write(
      `${(elapsedMs / 1_000).toFixed(0).padStart(4)} s  ${this.counts(now)}  ${this.lately().replace('last 5 s  ', '')}\n`,
    );
  }

  draw(title: string, now: number): void {
    const { paint } = this;
    const lines = [paint.strong(title), this.counts(now), this.lately(), ...table(this.tally, paint)];
    const up = this.drawn === 0 ? '' : `\u001b[${this.drawn}A`;
    const drawn = lines.map((line) => `\u001b[2K${line}\n`).join('');
    // A line that is too long is cut: one that goes on in the next would not be found again.
    this.write(`${up}\u001b[?7l${drawn}\u001b[?7h`);
    this.drawn = lines.length;
  }

  private counts(now: number): string {
    const { sent, all, inFlight } = this.tally;
    const lag = inFlight === 0 ? '' : ` (the oldest for ${shown(this.tally.oldest(now))})`;
    return `sent ${sent}  ended ${all.count}  in flight ${inFlight}${lag}`;
  }

  private lately(): string {
    const { sentRate, endedRate, p50, p99 } = this.last;
    return `last 5 s  sent ${sentRate.toFixed(1)}/s  ended ${endedRate.toFixed(1)}/s  p50 ${shown(p50)}  p99 ${shown(p99)}`;
  }
}

/** By outcome: how many, and how long they took. */
export function table(tally: Tally, paint: Paint): readonly string[] {
  const rows = [...tally.outcomes].sort(([, a], [, b]) => b.count - a.count);
  return [
    paint.dim(`${'outcome'.padEnd(24)}${'runs'.padStart(8)}${'p50'.padStart(10)}${'p99'.padStart(10)}`),
    ...rows.map(([name, latencies]) => {
      const word = name === 'answer' ? paint.good(name.padEnd(24)) : name.padEnd(24);
      const [p50, p99] = [latencies.quantile(0.5), latencies.quantile(0.99)].map((ms) => shown(ms).padStart(10));
      return `${word}${String(latencies.count).padStart(8)}${p50 ?? ''}${p99 ?? ''}`;
    }),
    ...(tally.calls.size === 0
      ? []
      : [`tool calls: ${[...tally.calls].map(([name, n]) => `${name} ${n}`).join(', ')}`]),
  ];
}

export function shown(ms: number | null): string {
  if (ms === null) return '-';
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
