import { callsOf, turnsOf } from './kinds.js';
import { ledgerPart, logPart, shareOf } from './model.js';
import type { Cost, Costs } from './model.js';

/** What is to be carried, and on what. */
export interface Plan {
  /** Runs a second. */
  readonly perSecond: number;
  /** Shares of one, by the names of runs that were measured. */
  readonly mix: Readonly<Record<string, number>>;
  /** How much of a core a process may take: the rest is for peaks, rebalances and the collector. */
  readonly coreShare: number;
  /** Of one database server, and of one broker; of these, the same share is used. */
  readonly databaseCores: number;
  readonly brokerCores: number;
  /** What one database may hold of claims, bytes. */
  readonly databaseBytes: number;
  /** How long a model takes for a turn, and a tool for a call, seconds. */
  readonly modelSeconds: number;
  readonly toolSeconds: number;
  /** Copies of each topic. */
  readonly replication: number;
  /** How long the topics of the loop are kept, days. */
  readonly keptDays: number;
}

export interface Size {
  /** By service. */
  readonly instances: Readonly<Record<string, number>>;
  /**
   * Installations side by side, each with a prefix and lists of its own: what one process of each must read
   * or write whole fits no core beyond that. All else is the sum over them.
   */
  readonly installations: number;
  /** Of one installation. */
  readonly partitions: number;
  /** Of all of them, which may share these. */
  readonly databases: number;
  readonly brokers: number;
  /** Cores that services, brokers and databases are busy with. */
  readonly cores: number;
  readonly claimsPerSecond: number;
  /** What producers send to the brokers, one copy; what readers fetch. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** What a day adds to the brokers’ disks with all copies: what is kept for a while, and the audit, kept for ever. */
  readonly keptBytesADay: number;
  readonly auditBytesADay: number;
  /** What the brokers’ disks hold of what is kept for a while, with all copies. */
  readonly keptBytes: number;
  /** Claims that the databases hold: each is kept for seven days. */
  readonly claimsKept: number;
}

/** What one process has in work at most: turns of an agent, records of an executor (docs/operations.md). */
const turnsAtOnce = 256;
const callsAtOnce = 1_000;
const claimDays = 7;
const day = 86_400;
/** Topics of the brokers’ own: they are compacted, and take no room that grows. */
const compacted = ['__consumer_offsets', '__transaction_state'];
const shortLived = 'agent.progress';
const kept = 'agent.audit';

/** Groups that read a topic once, whatever their instances: the service that handles it, and the audit. */
const groupsReading: Readonly<Record<string, number>> = {
  'agent.requests': 2,
  'agent.calls': 2,
  'agent.toolsets': 2,
  'agent.tool-calls': 2,
  'agent.steps': 2,
  'agent.responses': 2,
};
/** What every filter reads whole, for runs that are overdue. */
const sweptTopics = ['agent.toolsets', 'agent.calls', 'agent.responses'];
/** What no gateway and no MCP server reads for those who follow runs; the lists are made of the audit, too. */
const unwatched = ['agent.requests', kept, ...compacted];

/**
 * How large an installation has to be, from what runs cost in a flood: a busy process makes larger transactions, so
 * the commits of a run cost it less the more there is to do. Throws where a kind of the mix was not measured.
 */
export function sizeOf(costs: Costs, plan: Plan): Size {
  for (let installations = 1; installations <= 1_000; installations++) {
    const one = sizeOfOne(costs, { ...plan, perSecond: plan.perSecond / installations });
    if (one !== null) return { ...summed(one, installations), ...storesOf(costs, plan) };
  }
  throw new Error(`${plan.perSecond} runs a second do not fit on a thousand installations.`);
}

/** Runs a second of this mix beyond which one installation does not go, and the part that says so. */
export function ceilingOf(costs: Costs, plan: Plan): { readonly perSecond: number; readonly part: string } {
  const single = wholeReaders(costs, plan.mix);
  const [part, seconds] = Object.entries(single).reduce((most, one) => (one[1] > most[1] ? one : most));
  return { perSecond: plan.coreShare / seconds, part };
}

/** Seconds of the processor that each process of a part takes for every run of the installation. */
function wholeReaders({ cpu, eachFilter }: Costs, mix: Plan['mix']): Readonly<Record<string, number>> {
  const of = (part: string): number => fullOf(cpu[part], mix);
  const onLog = Object.fromEntries(Object.entries(mix).filter(([name]) => name.startsWith('log ')));
  const sum = Object.values(onLog).reduce((all, share) => all + share, 0);
  // What a gateway takes of runs that it does not serve.
  const passing = sum === 0 ? 0 : fullOf(cpu['gateway'], onLog) / sum;
  return { lists: of('lists'), gateway: passing, filter: shareOf(eachFilter, mix) };
}

function sizeOfOne(costs: Costs, plan: Plan): Size | null {
  const { perSecond, mix, coreShare } = plan;
  const { cpu, bytes } = costs;
  const whole = wholeReaders(costs, mix);
  const used = (part: string): number => perSecond * fullOf(cpu[part], mix);
  /** As many as share `divided` cores, where each takes `each` beside. */
  const shared = (divided: number, each: number): number =>
    each >= coreShare ? Infinity : Math.max(1, Math.ceil(Math.max(0, divided) / (coreShare - each)));
  const watched = perSecond * (whole['gateway'] ?? 0);
  const swept = perSecond * (whole['filter'] ?? 0);
  const turns = shareOf(turnsOf, mix);
  const calls = shareOf(callsOf, mix);
  const instances = {
    filter: shared(used('filter') - swept, swept),
    agent: Math.max(shared(used('agent'), 0), Math.ceil((perSecond * turns * plan.modelSeconds) / turnsAtOnce)),
    executor: Math.max(shared(used('executor'), 0), Math.ceil((perSecond * calls * plan.toolSeconds) / callsAtOnce)),
    audit: shared(used('audit'), 0),
    // The one that writes the lists does nothing else.
    gateway: 1 + shared(used('gateway') - watched, watched),
    mcp: shared(used('mcp') - watched, watched),
  };
  if (Object.values(instances).some((count) => !Number.isFinite(count)) || used('lists') > coreShare) return null;
  const perRun = mapBytes(bytes, mix);
  const sum = (of: (topic: string) => number): number =>
    Object.entries(perRun).reduce((all, [topic, size]) => all + size * of(topic), 0) * perSecond;
  const followers = instances.gateway + instances.mcp;
  const keptADay = sum((topic) => ([...compacted, shortLived, kept].includes(topic) ? 0 : 1)) * day * plan.replication;
  const claimsPerSecond = perSecond * shareOf(costs.claims, mix);
  return {
    instances,
    installations: 1,
    partitions: 6 * Math.ceil(Math.max(instances.filter, instances.agent, instances.executor, instances.audit) / 6),
    ...storesOf(costs, plan),
    cores: ['filter', 'agent', 'executor', 'audit', 'lists', 'gateway', 'mcp', logPart, ledgerPart].reduce(
      (all, part) => all + used(part),
      swept * (instances.filter - 1) + watched * (followers - 3),
    ),
    claimsPerSecond,
    bytesIn: sum(() => 1),
    bytesOut: sum(
      (topic) =>
        (groupsReading[topic] ?? 0) +
        (sweptTopics.includes(topic) ? instances.filter : 0) +
        (unwatched.includes(topic) ? 0 : followers) +
        (topic === kept ? 1 : 0),
    ),
    keptBytesADay: keptADay,
    auditBytesADay: sum((topic) => (topic === kept ? 1 : 0)) * day * plan.replication,
    keptBytes: keptADay * plan.keptDays,
    claimsKept: claimsPerSecond * day * claimDays,
  };
}

/** Databases and brokers, which installations may share: each keeps to its prefix. */
function storesOf(costs: Costs, plan: Plan): Pick<Size, 'databases' | 'brokers'> {
  const { perSecond, mix, coreShare, replication } = plan;
  const used = (part: string): number => perSecond * fullOf(costs.cpu[part], mix);
  const claimBytes = perSecond * shareOf(costs.claims, mix) * day * claimDays * costs.claimBytes;
  return {
    databases: Math.max(
      1,
      Math.ceil(used(ledgerPart) / (plan.databaseCores * coreShare)),
      Math.ceil(claimBytes / plan.databaseBytes),
    ),
    brokers: Math.max(replication, Math.ceil((used(logPart) * replication) / (plan.brokerCores * coreShare))),
  };
}

function mapBytes(bytes: Costs['bytes'], mix: Plan['mix']): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(bytes).map(([topic, cost]) => [topic, fullOf(cost, mix)]));
}

function fullOf(cost: Cost | undefined, mix: Plan['mix']): number {
  return cost === undefined ? 0 : shareOf(cost.full, mix);
}

function summed(one: Size, installations: number): Size {
  const times = (value: number): number => value * installations;
  return {
    ...one,
    installations,
    instances: Object.fromEntries(Object.entries(one.instances).map(([part, count]) => [part, times(count)])),
    cores: times(one.cores),
    claimsPerSecond: times(one.claimsPerSecond),
    bytesIn: times(one.bytesIn),
    bytesOut: times(one.bytesOut),
    keptBytesADay: times(one.keptBytesADay),
    auditBytesADay: times(one.auditBytesADay),
    keptBytes: times(one.keptBytes),
    claimsKept: times(one.claimsKept),
  };
}
