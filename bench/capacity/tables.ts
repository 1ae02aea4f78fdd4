import { claimsOf, commitsOf, ledgerPart, logPart } from './model.js';
import type { Costs, Prediction } from './model.js';
import type { Reading } from './reading.js';
import { ceilingOf } from './sizing.js';
import type { Plan, Size } from './sizing.js';

/** A load that was predicted and measured. */
export interface Check {
  /** Runs a second that were sent. */
  readonly perSecond: number;
  readonly predicted: Prediction;
  readonly measured: Prediction;
  /** What was to be expected by the transactions that were made. */
  readonly byCommits: Prediction;
  readonly load: number;
}

/** What `npm run bench -- capacity` writes down. */
export interface InstallationCosts {
  readonly costs: Costs;
  /** Claims of a run, by what is claimed. */
  readonly claims: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Runs a second that ended in a flood of the mix. */
  readonly flood: number;
  readonly mix: Readonly<Record<string, number>>;
  readonly checks: readonly Check[];
  /** Of the machine, at the beginning and the end. */
  readonly loads: readonly [number, number];
}

export interface CostsFile {
  readonly machine: string;
  readonly measuredOn: string;
  readonly embedded: InstallationCosts;
  readonly kafka: InstallationCosts;
}

/** What of a reading is predicted. */
export function countedOf(reading: Reading, committing: readonly string[]): Prediction {
  return {
    cpu: Object.fromEntries(Object.entries(reading.parts).map(([part, { cpu }]) => [part, cpu])),
    commits: Object.fromEntries(committing.map((part) => [part, commitsOf(part, reading)])),
    bytes: reading.bytes,
    wal: reading.walBytes,
    claims: claimsOf(reading),
  };
}

const words: Readonly<Record<string, string>> = {
  lists: 'gateway that writes the lists (projection)',
  gateway: 'gateway',
  log: 'the log: Kafka',
  ledger: 'the ledger: PostgreSQL',
  process: 'the process',
};
const ms = (seconds: number): string => shown(seconds * 1_000);
const pair = (first: string, second: string): string => (first === second ? first : `${first} → ${second}`);

/** Processor time of a run of each kind: alone → in a flood, milliseconds. */
export function cpuTable({ costs }: InstallationCosts): string {
  const { cpu } = costs;
  const names = namesOf(costs);
  const parts = Object.entries(cpu).filter(([, { full }]) => Object.values(full).some((value) => value > 0));
  const sum = (of: 'alone' | 'full', name: string): number =>
    parts.reduce((all, [, cost]) => all + (cost[of][name] ?? 0), 0);
  return markdown([
    ['processor time, ms', ...names.map(code), 'a second of nothing', 'a commit'],
    ...parts.map(([part, { alone, full, aSecond, aCommit }]) => [
      words[part] ?? part,
      ...names.map((name) => pair(ms(alone[name] ?? 0), ms(full[name] ?? 0))),
      ms(aSecond),
      ms(aCommit),
    ]),
    ...(parts.length > 1
      ? [
          [
            'all',
            ...names.map((name) => pair(ms(sum('alone', name)), ms(sum('full', name)))),
            ms(parts.reduce((all, [, { aSecond }]) => all + aSecond, 0)),
            '',
          ],
        ]
      : []),
  ]);
}

/** Transactions, claims and bytes of a run of each kind: alone → in a flood, where that differs. */
export function countTable({ costs, claims }: InstallationCosts): string {
  const names = namesOf(costs);
  const { bytes, wal, commits } = costs;
  const topics = Object.entries(bytes).filter(([, { full, alone }]) =>
    names.some((name) => (full[name] ?? 0) > 1 || (alone[name] ?? 0) > 1),
  );
  const ofTopic = (topic: string): boolean => topic.startsWith('agent.');
  const size = (of: 'alone' | 'full', name: string): string =>
    count(topics.filter(([topic]) => ofTopic(topic)).reduce((all, [, cost]) => all + (cost[of][name] ?? 0), 0));
  const rows = Object.entries(commits).filter(([part]) => part !== logPart);
  return markdown([
    ['of a run', ...names.map(code)],
    ...rows.map(([part, { alone, full }]) => [
      part === ledgerPart ? 'transactions of the databases' : `transactions on the log: ${part}`,
      ...names.map((name) => pair(shown(alone[name] ?? 0), shown(full[name] ?? 0))),
    ]),
    [
      'claims',
      ...names.map((name) =>
        Object.entries(claims[name] ?? {})
          .filter(([, many]) => Math.round(many) > 0)
          .map(([what, many]) => `${Math.round(many)} ${what}`)
          .join(', '),
      ),
    ],
    ...topics
      .filter(([topic]) => ofTopic(topic))
      .map(([topic, { full }]) => [`bytes, \`${topic}\``, ...names.map((name) => count(full[name] ?? 0))]),
    ['bytes on the log, all', ...names.map((name) => pair(size('alone', name), size('full', name)))],
    ...topics
      .filter(([topic]) => !ofTopic(topic))
      .map(([topic, { alone, full }]) => [
        `bytes, \`${topic}\``,
        ...names.map((name) => pair(count(alone[name] ?? 0), count(full[name] ?? 0))),
      ]),
    ...(Object.values(wal.full).some((value) => value > 0)
      ? [
          [
            'bytes, changes of PostgreSQL',
            ...names.map((name) => pair(count(wal.alone[name] ?? 0), count(wal.full[name] ?? 0))),
          ],
        ]
      : []),
  ]);
}

/** Predicted and measured, with their ratio, of each load. */
export function checkTable({ checks }: InstallationCosts): string {
  const figures = (one: Prediction): Readonly<Record<string, number>> => ({
    ...Object.fromEntries(
      Object.entries(one.cpu)
        .filter(([part]) => checks.every(({ measured }) => (measured.cpu[part] ?? 0) > 0))
        .map(([part, value]) => [`processor time, s: ${words[part] ?? part}`, value]),
    ),
    'processor time, s: all': Object.values(one.cpu).reduce((all, value) => all + value, 0),
    'MB on the log':
      Object.entries(one.bytes).reduce((all, [topic, value]) => all + (topic.startsWith('agent.') ? value : 0), 0) /
      1e6,
    claims: one.claims,
    'transactions on the log': one.commits[logPart] ?? 0,
    'transactions of the databases': one.commits[ledgerPart] ?? 0,
  });
  const columns = checks.map(
    ({ predicted, measured, byCommits }) => [figures(predicted), figures(measured), figures(byCommits)] as const,
  );
  const [first] = columns;
  const ratio = (p: number, m: number): string => {
    const text = (p / m).toFixed(2);
    return Math.abs(p / m - 1) > 0.25 ? `**${text}**` : text;
  };
  return markdown([
    ['predicted, measured, ratio', ...checks.map(({ perSecond }) => `${shown(perSecond)} runs a second`)],
    ...Object.keys(first?.[0] ?? {}).map((name) => [
      name,
      ...columns.map(([predicted, measured, byCommits]) => {
        const [p, m] = [predicted[name] ?? 0, measured[name] ?? 0];
        const given = name.startsWith('processor') ? ` (${ratio(byCommits[name] ?? 0, m)})` : '';
        return `${shown(p)}, ${shown(m)}, ${ratio(p, m)}${given}`;
      }),
    ]),
  ]);
}

/** What the plans come to, a column each. */
export function sizeTable(costs: Costs, sizes: readonly (readonly [Plan, Size])[]): string {
  const gb = (bytes: number): string => shown(bytes / 1e9);
  const rows: readonly (readonly [string, (size: Size) => string])[] = [
    ['installations', ({ installations }) => count(installations)],
    ['partitions of each', ({ partitions }) => count(partitions)],
    ...(['filter', 'agent', 'executor', 'audit', 'gateway', 'mcp'] as const).map(
      (part) => [part, ({ instances }: Size) => count(instances[part] ?? 0)] as const,
    ),
    ['databases of claims', ({ databases }) => count(databases)],
    ['brokers', ({ brokers }) => count(brokers)],
    ['cores that are busy, all parts', ({ cores }) => shown(cores)],
    ['claims a second', ({ claimsPerSecond }) => count(claimsPerSecond)],
    ['claims kept', ({ claimsKept }) => `${shown(claimsKept / 1e6)} million`],
    ['GB of claims kept, with indexes', ({ claimsKept }) => gb(claimsKept * costs.claimBytes)],
    ['brokers: MB a second in, one copy', ({ bytesIn }) => shown(bytesIn / 1e6)],
    ['brokers: MB a second out', ({ bytesOut }) => shown(bytesOut / 1e6)],
    ['GB a day, topics of the loop, all copies', ({ keptBytesADay }) => gb(keptBytesADay)],
    ['GB of them at a time, all copies', ({ keptBytes }) => gb(keptBytes)],
    ['GB a day, `agent.audit`, all copies', ({ auditBytesADay }) => gb(auditBytesADay)],
  ];
  const ceilings = sizes.map(([plan]) => ceilingOf(costs, plan));
  return markdown([
    ['', ...sizes.map(([{ perSecond }]) => `${count(perSecond)} runs a second`)],
    ...rows.map(([name, value]) => [name, ...sizes.map(([, size]) => value(size))]),
    [
      'one installation ends at',
      ...ceilings.map(({ perSecond, part }) => `${count(perSecond)} runs a second: ${words[part] ?? part}`),
    ],
  ]);
}

function namesOf({ claims }: Costs): readonly string[] {
  return Object.keys(claims);
}

function code(name: string): string {
  return `\`${name}\``;
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Two figures, or all before the point. */
function shown(value: number): string {
  if (Math.abs(value) >= 100) return count(value);
  if (Math.abs(value) < 0.005) return '0';
  return String(Number(value.toPrecision(2)));
}

function markdown([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
