import { setTimeout as delay } from 'node:timers/promises';

/** How long a part may take to say how it is, milliseconds; longer than each of them waits by itself. */
const answerMs = 6_000;

/** What one part of the process says of itself. */
interface Check {
  readonly name: string;
  /** Rejects with a sentence while the part cannot do its work. */
  check(): Promise<void>;
  /** Figures that tell an operator how it stands, if it has any. */
  figures?(): Readonly<Record<string, number>>;
}

interface HealthReport {
  readonly status: 'ok' | 'unavailable';
  /** `ok`, or the reason, by part. */
  readonly checks: Readonly<Record<string, string>>;
  readonly figures: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Liveness is the event loop alone: a process that can answer is alive. Readiness asks every part. */
export class Health {
  private readonly parts = new Map<string, Check>();

  constructor(private readonly limitMs = answerMs) {}

  /** A part of the same name takes the place of the former one. */
  add(part: Check): void {
    this.parts.set(part.name, part);
  }

  /**
   * The part is not ready while the work goes on, for the given reason or a better one that the work finds;
   * afterwards it is not asked, until it is added.
   */
  async during<T>(name: string, reason: string, work: (because: (reason: string) => void) => Promise<T>): Promise<T> {
    let why = reason;
    this.add({ name, check: () => Promise.reject(new Error(why)) });
    try {
      return await work((better) => (why = better));
    } finally {
      this.parts.delete(name);
    }
  }

  liveness(): Omit<HealthReport, 'figures'> {
    return { status: 'ok', checks: { 'event loop': 'ok' } };
  }

  async readiness(): Promise<HealthReport> {
    const parts = [...this.parts.values()];
    const results = await Promise.all(parts.map(async (part) => [part.name, await this.ask(part)] as const));
    const figures = parts.flatMap(({ name, figures }) => (figures === undefined ? [] : [[name, figures()] as const]));
    return {
      status: results.every(([, result]) => result === 'ok') ? 'ok' : 'unavailable',
      checks: Object.fromEntries(results),
      figures: Object.fromEntries(figures),
    };
  }

  private async ask({ check }: Check): Promise<string> {
    const limit = new AbortController();
    const silence = `It has not said for ${this.limitMs / 1_000} s how it is.`;
    const late = delay(this.limitMs, silence, { signal: limit.signal }).catch(() => undefined);
    try {
      return (await Promise.race([check(), late])) ?? 'ok';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      limit.abort();
    }
  }
}
