/** What one part of the process says of itself. */
export interface Check {
  readonly name: string;
  /** Rejects with a sentence while the part cannot do its work. */
  check(): Promise<void>;
}

export interface HealthReport {
  readonly status: 'ok' | 'unavailable';
  /** `ok`, or the reason, by part. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Liveness is the event loop alone: whoever can answer is alive. Readiness asks every part. */
export class Health {
  private readonly parts = new Map<string, Check>();

  /** A part of the same name takes the place of the former one. */
  add(part: Check): void {
    this.parts.set(part.name, part);
  }

  /** The part is not ready, for the given reason, while the work goes on; afterwards it is not asked, until somebody adds it. */
  async during<T>(name: string, reason: string, work: () => Promise<T>): Promise<T> {
    this.add({ name, check: () => Promise.reject(new Error(reason)) });
    try {
      return await work();
    } finally {
      this.parts.delete(name);
    }
  }

  async readiness(): Promise<HealthReport> {
    const results = await Promise.all(
      [...this.parts.values()].map(async ({ name, check }) => {
        try {
          await check();
          return [name, 'ok'] as const;
        } catch (error) {
          return [name, error instanceof Error ? error.message : String(error)] as const;
        }
      }),
    );
    const status = results.every(([, result]) => result === 'ok') ? 'ok' : 'unavailable';
    return { status, checks: Object.fromEntries(results) };
  }
}
