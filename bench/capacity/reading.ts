/** What a process has used since it started. */
export interface Used {
  /** Seconds of the processor. */
  readonly cpu: number;
  /** Transactions that it committed on the log. */
  readonly commits: number;
  /** Records that it handled. */
  readonly records: number;
}

/** All that is counted of an installation, from when it began. */
export interface Reading {
  /** `performance.now()`. */
  readonly at: number;
  /** By part: a service, `log` for the broker, `ledger` for the database. */
  readonly parts: Readonly<Record<string, Used>>;
  /** Transactions that wrote to the databases of the ledger and of the lists. */
  readonly commits: number;
  /** What these wrote to their logs of changes, bytes; 0 where that is not known. */
  readonly walBytes: number;
  /** By what is claimed. */
  readonly claims: Readonly<Record<string, number>>;
  /** On the log, one copy, by topic. */
  readonly bytes: Readonly<Record<string, number>>;
}

export const nothing: Used = { cpu: 0, commits: 0, records: 0 };

/** What came between two readings; `at` is the seconds between. Parts that came later count from their start. */
export function between(before: Reading, after: Reading): Reading {
  const less = (all: Readonly<Record<string, number>>, first: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value - (first[name] ?? 0)]));
  return {
    at: (after.at - before.at) / 1_000,
    parts: Object.fromEntries(
      Object.entries(after.parts).map(([name, used]) => {
        const first = before.parts[name] ?? nothing;
        return [
          name,
          {
            cpu: used.cpu - first.cpu,
            commits: used.commits - first.commits,
            records: used.records - first.records,
          },
        ];
      }),
    ),
    commits: after.commits - before.commits,
    walBytes: after.walBytes - before.walBytes,
    claims: less(after.claims, before.claims),
    bytes: less(after.bytes, before.bytes),
  };
}

/** What a service says of itself at `/metrics`. */
export async function usedBy(url: string): Promise<Used> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (name: string, label = ''): number =>
    text
      .split('\n')
      .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(label))
      .reduce((all, line) => all + Number(line.slice(line.lastIndexOf(' '))), 0);
  return {
    cpu: sum('process_cpu_seconds_total'),
    commits: sum('sluice_transactions_total', 'outcome="committed"'),
    records: sum('sluice_hop_duration_seconds_count'),
  };
}
