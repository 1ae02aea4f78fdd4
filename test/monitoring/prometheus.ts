import { writeFile } from 'node:fs/promises';
import { own } from '../infra/client.ts';
import type { Owned } from '../infra/client.ts';

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

export interface FiringAlert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A Prometheus of the test's own, under the project's rules, that looks at one process a second. */
export class Watching {
  private constructor(private readonly owned: Owned<'prometheus'>) {}

  static async start(): Promise<Watching> {
    return new Watching(await own('prometheus'));
  }

  /** Looks at these from now on: `host:port` and the role, as the scrape configuration of a deployment labels them. */
  async at(...services: readonly { readonly url: string; readonly role: string }[]): Promise<void> {
    const targets = services.map(({ url, role }) => {
      const { host } = new URL(url);
      return { targets: [host], labels: { role, instance: host } };
    });
    await writeFile(this.owned.address.targets, JSON.stringify(targets));
    await this.until(
      'every service to be seen',
      async () => (await this.values('count(up{job="sluice"} == 1)'))[0] === services.length,
    );
  }

  /** The finite values of a query: over the last minute a second each, or as they are now. */
  async values(expr: string, over: 'minute' | 'now' = 'now'): Promise<readonly number[]> {
    const now = Date.now() / 1_000;
    const series = await this.ask<{ result: readonly Series[] }>(
      over === 'now'
        ? `query?${new URLSearchParams({ query: expr })}`
        : `query_range?${new URLSearchParams({ query: expr, start: String(now - 60), end: String(now), step: '1' })}`,
    );
    return series.result
      .flatMap(({ value, values = [] }) => (value === undefined ? values : [value]))
      .map(([, text]) => Number(text))
      .filter(Number.isFinite);
  }

  async alerts(): Promise<readonly FiringAlert[]> {
    return (await this.ask<{ alerts: readonly FiringAlert[] }>('alerts')).alerts;
  }

  /** Rules that cannot be evaluated, with why. */
  async brokenRules(): Promise<readonly string[]> {
    const { groups } = await this.ask<{ groups: readonly { rules: readonly Record<string, string>[] }[] }>('rules');
    return groups.flatMap(({ rules }) =>
      rules.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => `${name}: ${lastError}`),
    );
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + 60_000; !(await holds());) {
      if (Date.now() > end) throw new Error(`Waited for a minute for ${what}.`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  release(): Promise<void> {
    return this.owned.release();
  }

  private async ask<T>(path: string): Promise<T> {
    const response = await fetch(`${this.owned.address.url}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; error?: string; data: T };
    if (answer.status !== 'success') throw new Error(`${decodeURIComponent(path)}: ${answer.error}`);
    return answer.data;
  }
}
