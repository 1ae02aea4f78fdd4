import { setTimeout as delay } from 'node:timers/promises';
import { AssignerProtocol } from 'kafkajs';
import { quantile, report } from '../measure.js';
import { openCluster } from './cluster.js';
import type { Cluster, Role } from './cluster.js';
import { effectServer } from '../../test/cluster/effect-server.js';
import { client } from './echo.js';
import { startInfrastructure } from './infrastructure.js';
import type { Infrastructure } from './infrastructure.js';
import { steadyLoad } from './load.js';
import type { Run } from './load.js';

const roles: readonly Role[] = ['filter', 'agent', 'executor'];
const runsPerSecond = 15;
const beforeSeconds = 15;
const afterSeconds = 20;
/** Before and after a kill: a 99th percentile of fewer runs is that of its third slowest. */
const comparedSeconds = 60;
const quietMs = 5_000;
const question = (): string => 'What time is it now?';
const configuration = `
tool:
  now: { type: get_current_time, description: Tells the current time, group: [work] }
policy: { allowed_tools: [now] }
model: { provider: rules }
`;

/** What the end and the arrival of an instance do to the sessions that run. Each service is a process of its own. */
export async function benchInstances(): Promise<void> {
  const parts = await startInfrastructure();
  try {
    await killed(parts);
    await added(parts);
    await settled(parts);
  } finally {
    await parts.stop();
  }
}

/** Two instances of each service; one of them is killed in the middle of the load, each role in turn. */
async function killed(parts: Infrastructure): Promise<void> {
  const cluster = await openCluster(parts, configuration);
  try {
    const instances = new Map(
      await Promise.all(
        roles.map(async (role) => [role, await Promise.all([cluster.start(role), cluster.start(role)])] as const),
      ),
    );
    const load = (name: string, seconds: number): Promise<readonly Run[]> =>
      steadyLoad(cluster, { name, runsPerSecond, seconds, question });
    await load('warm', beforeSeconds);
    for (const role of roles) {
      const victim = instances.get(role)?.[0];
      if (victim === undefined) throw new Error(`There is no ${role}.`);
      const before = await load(`${role}-before`, comparedSeconds);
      const members = await partitionsByMember(cluster, role);
      const running = load(`${role}-after`, comparedSeconds);
      await delay(2_000);
      const killedAt = performance.now();
      victim.process.kill('SIGKILL');
      const after = await running;
      const kept = await partitionsByMember(cluster, role);
      const moved = new Set([...members].filter(([id]) => !kept.has(id)).flatMap(([, numbers]) => numbers));
      const affected = after.filter(({ partition }) => moved.has(partition));
      const others = after.filter(({ partition }) => !moved.has(partition));
      const goesOn = affected.map(({ sentAt, ms }) => (sentAt + ms - Math.max(sentAt, killedAt)) / 1_000);
      const p99 = (runs: readonly Run[]): number =>
        quantile(
          runs.map(({ ms }) => ms),
          0.99,
        );
      report(`kill -9 of one ${role} of two, ${runsPerSecond} runs a second`, [
        { name: 'affected runs: the longest wait', value: Math.max(...goesOn), unit: 's', goal: { atMost: 10 } },
        { name: 'all runs before: p99', value: p99(before), unit: 'ms' },
        { name: 'the others, afterwards: p99', value: p99(others), unit: 'ms' },
        { name: 'the others’ p99 / before', value: p99(others) / p99(before), unit: '', goal: { atMost: 1.2 } },
      ]);
      await cluster.start(role);
      await delay(quietMs);
    }
  } finally {
    await cluster.close();
  }
}

const calls = 60;
const callMs = 8_000;
const patienceMs = 30_000;

/**
 * One executor has calls of a slow tool in work when another one arrives: only those of the partitions that moved run
 * again.
 */
async function added(parts: Infrastructure): Promise<void> {
  const server = await effectServer(callMs);
  const cluster = await openCluster(
    parts,
    `
tool:
  now: { type: mcp-tool, description: Tells the current time, group: [work] }
policy: { allowed_tools: [now] }
model: { provider: rules }
mcp:
  servers: { slow: { url: "${server.url}" } }
  tools: { now: { server: slow, tool: act, effect: read_only, redaction: whole } }
`,
  );
  try {
    for (const role of roles) await cluster.start(role);
    const running = steadyLoad(cluster, {
      name: 'slow',
      runsPerSecond: calls,
      seconds: 1,
      question,
    });
    for (const until = performance.now() + patienceMs; server.done.size < calls; await delay(50))
      if (performance.now() > until) throw new Error(`Only ${server.done.size} of ${calls} calls came.`);
    const before = await partitionsByMember(cluster, 'executor');
    await cluster.start('executor');
    const runs = await running;
    const after = await partitionsByMember(cluster, 'executor');
    const kept = new Set([...after].filter(([id]) => before.has(id)).flatMap(([, numbers]) => numbers));
    const moved = runs.filter(({ partition }) => !kept.has(partition)).length;
    const repeated = [...server.done.values()].reduce((sum, count) => sum + count - 1, 0);
    report(`A second executor beside one with ${calls} calls of ${callMs / 1_000} s in work`, [
      { name: 'calls in partitions that moved', value: moved, unit: '' },
      { name: 'calls that ran again', value: repeated, unit: '', goal: { atMost: moved } },
    ]);
  } finally {
    await cluster.close();
    await server.close();
  }
}

/** One instance of each service, and a second one of each role in turn, in the middle of the load. */
async function settled(parts: Infrastructure): Promise<void> {
  const cluster = await openCluster(parts, configuration);
  try {
    for (const role of roles) await cluster.start(role);
    await steadyLoad(cluster, { name: 'alone', runsPerSecond, seconds: beforeSeconds, question });
    for (const role of roles) {
      const running = steadyLoad(cluster, { name: `two-${role}`, runsPerSecond, seconds: afterSeconds, question });
      await delay(2_000);
      const begin = performance.now();
      await cluster.start(role);
      const shared = async (): Promise<boolean> => {
        const members = [...(await partitionsByMember(cluster, role)).values()];
        return members.length === 2 && members.every((numbers) => numbers.length > 0);
      };
      while (!(await shared()))
        if (performance.now() - begin > patienceMs) throw new Error(`The second ${role} got no partition.`);
        else await delay(50);
      const seconds = (performance.now() - begin) / 1_000;
      const longest = Math.max(...(await running).map(({ ms }) => ms));
      report(`A second ${role} beside one, ${runsPerSecond} runs a second`, [
        { name: 'from its start until both share the partitions', value: seconds, unit: 's', goal: { atMost: 10 } },
        { name: 'the longest run meanwhile', value: longest / 1_000, unit: 's', goal: { atMost: 10 } },
      ]);
    }
  } finally {
    await cluster.close();
  }
}

/**
 * Which partitions each member of the role's group has, over its topics: sessions have the same number on all of
 * them.
 */
async function partitionsByMember({ brokers, prefix }: Cluster, role: Role): Promise<Map<string, number[]>> {
  const admin = client(brokers, 'bench-members').admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([prefix + role]);
    return new Map(
      (groups[0]?.members ?? []).map(({ memberId, memberAssignment }) => {
        const decoded = AssignerProtocol.MemberAssignment.decode(memberAssignment);
        return [memberId, [...new Set(Object.values(decoded?.assignment ?? {}).flat())]];
      }),
    );
  } finally {
    await admin.disconnect();
  }
}
