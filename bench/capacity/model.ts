import { nothing } from './reading.js';
import type { Reading, Used } from './reading.js';

/** What was counted in a time in which runs of one name, or of several, were sent. */
export interface Counted {
  readonly runs: number;
  /** Seconds of sending; `counted.at` has those until all was done. */
  readonly sending: number;
  readonly counted: Reading;
}

/** One kind of run by one door, twice. */
export interface Measured {
  /** One after the other, so that nothing of two runs is ever committed together. */
  readonly alone: Counted;
  /** So many that everything is. */
  readonly full: Counted;
}

/** All that the model is made of. Names of runs are as `log read`. */
export interface Calibration {
  readonly idle: Counted;
  readonly runs: Readonly<Record<string, Measured>>;
  /** One of these names at rates between the two, which say how long a commit takes. */
  readonly between: { readonly name: string; readonly counted: readonly Counted[] };
  /** A flood of the same name with a second filter, where that was measured. */
  readonly twoFilters?: Counted;
  /** What the database has of a claim, with its indexes; 0 for a file. */
  readonly claimBytes: number;
}

/** What something takes: a second of nothing, a run, a commit. */
export interface Cost {
  readonly aSecond: number;
  readonly aRun: Readonly<Record<string, number>>;
  readonly aCommit: number;
  /** A run and its commits where it is alone, and in a flood. */
  readonly alone: Readonly<Record<string, number>>;
  readonly full: Readonly<Record<string, number>>;
}

/** Commits of a part. */
export interface Commits {
  readonly aSecond: number;
  /** Of a run that is alone, and in a flood. */
  readonly alone: Readonly<Record<string, number>>;
  readonly full: Readonly<Record<string, number>>;
  /**
   * While one is under way, what comes waits and goes together with the next one; seconds, where there was time to
   * spare, and in a flood.
   */
  readonly cycle: number;
  readonly fullCycle: number;
}

export interface Costs {
  /** Seconds of the processor, by part. */
  readonly cpu: Readonly<Record<string, Cost>>;
  /** Of each part that commits to the log, and of the ledger. */
  readonly commits: Readonly<Record<string, Commits>>;
  /** Bytes on the log, by topic. */
  readonly bytes: Readonly<Record<string, Cost>>;
  /** Bytes of a database’s log of changes. */
  readonly wal: Cost;
  /** What a run takes of a flood of its kind, by the name of runs: seconds. */
  readonly floodSeconds: Readonly<Record<string, number>>;
  /** The share of a flood at which there was time to spare. */
  readonly spareShare: number;
  /** Claims of a run. */
  readonly claims: Readonly<Record<string, number>>;
  /** What the database has of a claim, with its indexes; 0 for a file. */
  readonly claimBytes: number;
  /**
   * What every filter takes for each run of all, since each looks for runs that are overdue, by the name of runs:
   * seconds.
   */
  readonly eachFilter: Readonly<Record<string, number>>;
}

/** What a load takes. */
export interface Prediction {
  readonly cpu: Readonly<Record<string, number>>;
  readonly commits: Readonly<Record<string, number>>;
  readonly bytes: Readonly<Record<string, number>>;
  readonly wal: number;
  readonly claims: number;
}

/** Whose processor time goes with which commits: the broker has those of all, the database those of the ledger. */
export const ledgerPart = 'ledger';
export const logPart = 'log';

/**
 * Commits a second where so many things a second are to be committed and one commit takes so long: what comes during
 * one goes together with the next. Arrivals are by chance. As many as there are things where these are few, and one
 * after the other where they are many.
 */
export function commitsPerSecond(things: number, cycle: number): number {
  if (things <= 0) return 0;
  return 1 / (cycle + Math.exp(-things * cycle) / things);
}

/** The other way round: how long a commit takes, if so many things a second made so many commits. */
export function cycleOf(things: number, commits: number): number {
  if (things <= 0 || commits >= things) return 0;
  let [least, most] = [0, 1 / Math.max(commits, 1e-9)];
  for (let n = 0; n < 60; n++) {
    const middle = (least + most) / 2;
    if (commitsPerSecond(things, middle) > commits) least = middle;
    else most = middle;
  }
  return (least + most) / 2;
}

/**
 * How long a commit takes at a load, which is a share of a flood: it shares the processors with the load, so the more
 * that takes of them, the fewer commits a second there can be.
 */
export function cycleAt(
  { cycle, fullCycle }: Pick<Commits, 'cycle' | 'fullCycle'>,
  share: number,
  spareShare: number,
): number {
  if (cycle === 0 || fullCycle <= cycle) return cycle;
  const [most, least] = [1 / cycle, 1 / fullCycle];
  return 1 / (most - ((most - least) * (Math.min(1, share) - spareShare)) / (1 - spareShare));
}

/** Costs, of what was counted. Throws where a name is missing. */
export function costsOf(calibration: Calibration): Costs {
  const { idle, runs, between } = calibration;
  const all = [...Object.values(runs).flatMap(({ alone, full }) => [alone, full]), ...between.counted];
  const names = (of: (reading: Reading) => object): readonly string[] => [
    ...new Set(all.flatMap(({ counted }) => Object.keys(of(counted)))),
  ];
  const parts = names(({ parts: used }) => used);
  const commitsIn = (part: string) => (reading: Reading) => commitsOf(part, reading);
  const committing = [...parts.filter((part) => part !== ledgerPart && part !== logPart), ledgerPart, logPart].filter(
    (part) => all.some(({ counted }) => commitsOf(part, counted) > 0),
  );
  const cpu = Object.fromEntries(
    parts.map((part) => [
      part,
      costOf(calibration, ({ parts: used }) => used[part]?.cpu ?? 0, commitsIn(commitsThatCost(part))),
    ]),
  );
  const bytes = Object.fromEntries(
    names((reading) => reading.bytes).map((topic) => [
      topic,
      costOf(calibration, (reading) => reading.bytes[topic] ?? 0, commitsIn(logPart)),
    ]),
  );
  const flood = runs[between.name]?.full;
  const floodSeconds = mapValues(runs, ({ full }) => full.sending / full.runs);
  const rates = between.counted.map(({ runs: sent, sending }) => sent / sending);
  return {
    cpu,
    bytes,
    floodSeconds,
    spareShare: (floodSeconds[between.name] ?? 0) * mean(rates),
    claimBytes: calibration.claimBytes,
    eachFilter: eachFilterOf(calibration, cpu['filter'], bytes),
    commits: Object.fromEntries(
      committing.map((part) => {
        const commits = commitsIn(part);
        const aSecond = commits(idle.counted) / idle.counted.at;
        const alone = mapValues(runs, (one) => Math.max(0, overIdle(one.alone, commits, aSecond)));
        const full = mapValues(runs, (one) => Math.max(0, overIdle(one.full, commits, aSecond)));
        const cycleIn = ({ runs: sent, sending, counted }: Counted): number =>
          cycleOf(((alone[between.name] ?? 0) * sent) / sending, (commits(counted) - aSecond * counted.at) / sending);
        const fullCycle = flood === undefined ? 0 : cycleIn(flood);
        return [part, { aSecond, alone, full, cycle: mean(between.counted.map(cycleIn)), fullCycle }];
      }),
    ),
    wal: costOf(calibration, ({ walBytes }) => walBytes, commitsIn(ledgerPart)),
    claims: mapValues(
      runs,
      ({ alone, full }) => (claimsOf(alone.counted) + claimsOf(full.counted)) / (alone.runs + full.runs),
    ),
  };
}

/**
 * What runs of these names, in shares of one, take at so many a second for so many seconds; by commits that were
 * counted, where these are given.
 */
export function predicted(
  costs: Costs,
  mix: Readonly<Record<string, number>>,
  perSecond: number,
  seconds: { readonly sending: number; readonly all: number },
  counted: Readonly<Record<string, number>> = {},
): Prediction {
  const share = (of: Readonly<Record<string, number>>): number => shareOf(of, mix);
  const runs = perSecond * seconds.sending;
  const ofFlood = perSecond * share(costs.floodSeconds);
  const commits = mapValues(
    costs.commits,
    (part, name) =>
      counted[name] ??
      commitsPerSecond(perSecond * share(part.alone), cycleAt(part, ofFlood, costs.spareShare)) * seconds.sending +
        part.aSecond * seconds.all,
  );
  // The broker’s are those of all the others.
  if (commits[logPart] !== undefined)
    commits[logPart] = Object.entries(commits).reduce(
      (sum, [part, count]) => (part === ledgerPart || part === logPart ? sum : sum + count),
      0,
    );
  const taken = (cost: Cost, part: string): number =>
    cost.aSecond * seconds.all +
    Math.max(
      0,
      runs * share(cost.aRun) +
        cost.aCommit * Math.max(0, (commits[part] ?? 0) - (costs.commits[part]?.aSecond ?? 0) * seconds.all),
    );
  return {
    cpu: Object.fromEntries(
      Object.entries(costs.cpu).map(([part, cost]) => [part, taken(cost, commitsThatCost(part))]),
    ),
    commits,
    bytes: mapValues(costs.bytes, (cost) => taken(cost, logPart)),
    wal: taken(costs.wal, ledgerPart),
    claims: runs * share(costs.claims),
  };
}

/** The mean over a mix, whose shares are of one. Throws for a name that was not measured. */
export function shareOf(of: Readonly<Record<string, number>>, mix: Readonly<Record<string, number>>): number {
  return Object.entries(mix).reduce((sum, [name, share]) => {
    const value = of[name];
    if (value === undefined)
      throw new Error(`Runs “${name}” were not measured; there are: ${Object.keys(of).join(', ')}.`);
    return sum + share * value;
  }, 0);
}

export function claimsOf({ claims }: Reading): number {
  return Object.values(claims).reduce((sum, count) => sum + count, 0);
}

/** Commits of a service, of all services, or of the ledger. */
export function commitsOf(part: string, { parts, commits }: Reading): number {
  if (part === ledgerPart) return commits;
  if (part !== logPart) return parts[part]?.commits ?? 0;
  return Object.values(parts).reduce((sum, used) => sum + used.commits, 0);
}

/** A part that commits nothing itself follows what the others commit: it is woken by each. */
function commitsThatCost(part: string): string {
  return ['filter', 'agent', 'executor', 'audit', ledgerPart].includes(part) ? part : logPart;
}

/**
 * A cost as a part for each run and one for each commit: the same run takes more alone than in a flood, by what its
 * further commits take.
 */
function costOf(
  { idle, runs }: Calibration,
  value: (reading: Reading) => number,
  commits: (reading: Reading) => number,
): Cost {
  const aSecond = value(idle.counted) / idle.counted.at;
  const idleCommits = commits(idle.counted) / idle.counted.at;
  const pairs = mapValues(runs, ({ alone, full }) => ({
    alone: { value: overIdle(alone, value, aSecond), commits: overIdle(alone, commits, idleCommits) },
    full: { value: overIdle(full, value, aSecond), commits: overIdle(full, commits, idleCommits) },
  }));
  const [more, moreCommits] = Object.values(pairs).reduce(
    ([values, counts], { alone, full }) => [values + alone.value - full.value, counts + alone.commits - full.commits],
    [0, 0],
  );
  const aCommit = moreCommits > 0 ? Math.max(0, more / moreCommits) : 0;
  return {
    aSecond,
    aCommit,
    aRun: mapValues(pairs, ({ full }) => full.value - aCommit * full.commits),
    // A run that takes next to nothing may seem to give some back.
    alone: mapValues(pairs, ({ alone }) => Math.max(0, alone.value)),
    full: mapValues(pairs, ({ full }) => Math.max(0, full.value)),
  };
}

/** What a second filter adds, beside its own commits. Of other runs as much as they have on what is read for it. */
function eachFilterOf(
  { between, twoFilters, idle }: Calibration,
  filter: Cost | undefined,
  bytes: Costs['bytes'],
): Readonly<Record<string, number>> {
  if (twoFilters === undefined || filter === undefined) return {};
  const sum = (value: (used: Used) => number, { counted }: Counted): number =>
    ['filter', 'filter-2'].reduce((all, part) => all + value(counted.parts[part] ?? nothing), 0);
  const { runs, counted } = twoFilters;
  const idleCommits = sum(({ commits }) => commits, idle) / idle.counted.at;
  const commits = (sum((used) => used.commits, twoFilters) - idleCommits * counted.at) / runs;
  const both = (sum(({ cpu }) => cpu, twoFilters) - 2 * filter.aSecond * counted.at) / runs;
  const added = Math.max(0, both - filter.aCommit * commits - (filter.aRun[between.name] ?? 0));
  const read = (name: string): number =>
    (bytes['agent.toolsets']?.full[name] ?? 0) + (bytes['agent.responses']?.full[name] ?? 0);
  return mapValues(filter.full, (_, name) => (added * read(name)) / read(between.name));
}

/** Of a run, less what the time would have taken without any. */
function overIdle({ runs, counted }: Counted, value: (reading: Reading) => number, aSecond: number): number {
  return (value(counted) - aSecond * counted.at) / runs;
}

function mean(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}

function mapValues<V, W>(all: Readonly<Record<string, V>>, change: (value: V, name: string) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(value, name)]));
}
