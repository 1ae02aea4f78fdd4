import { setTimeout as delay } from 'node:timers/promises';
import { Partitioners } from 'kafkajs';
import type { Admin } from 'kafkajs';
import { topics } from '@sluice/contracts';
import { median, report } from '../measure.js';
import { openCluster } from './cluster.js';
import type { Cluster, Instance } from './cluster.js';
import { client } from './echo.js';
import { startInfrastructure } from './infrastructure.js';

/** Runs; each is two records for the filter and for the agent, one for the executor, and seven on the log in all. */
const runs = 500_000;
const runsPerSecond = 120;
const tickMs = 250;
const sampleTicks = 8;
/**
 * Records that the filter may have left before more are published: a backlog has a memory of its own, which is not
 * what is measured here.
 */
const mostUnread = 240;
const configuration = `
tool:
  now: { type: get_current_time, description: Tells the current time, group: [work] }
policy: { allowed_tools: [now] }
model: { provider: rules }
`;

interface Sample {
  readonly share: number;
  readonly mb: number;
}

/**
 * The whole loop, a process for each service, at a steady pace until the filter and the agent had a million records
 * each.
 */
export async function benchMemory(): Promise<void> {
  const parts = await startInfrastructure();
  const cluster = await openCluster(parts, configuration);
  try {
    const instances = await Promise.all((['filter', 'agent', 'executor'] as const).map((role) => cluster.start(role)));
    const samples = new Map<Instance, Sample[]>(instances.map((instance) => [instance, []]));
    const began = performance.now();
    let sampled = 0;
    await publishSteadily(cluster, (published) => {
      for (const [instance, list] of samples) list.push({ share: published / runs, mb: instance.residentMb() });
      if (++sampled % 30 === 0) console.log(`  ${published} of ${runs} runs …`);
    });
    const seconds = (performance.now() - began) / 1_000;
    report(`Memory, ${runs} runs at ${Math.round(runs / seconds)} a second`, [
      ...[...samples].flatMap(([{ role }, list]) => {
        const [early, late] = [residentIn(list, 0.1, 0.2), residentIn(list, 0.9, 1)];
        return [
          { name: `${role}: resident in the last tenth, median`, value: late, unit: 'MB', goal: { atMost: 160 } },
          { name: `${role}: last tenth / second tenth`, value: late / early, unit: '', goal: { atMost: 1.1 } },
          { name: `${role}: highest sample`, value: Math.max(...list.map(({ mb }) => mb)), unit: 'MB' },
        ];
      }),
    ]);
  } finally {
    await cluster.close();
    await parts.stop();
  }
}

function residentIn(samples: readonly Sample[], from: number, to: number): number {
  return median(samples.filter(({ share }) => share >= from && share <= to).map(({ mb }) => mb));
}

/** At a steady pace; where the services fall behind, publishing waits for them. */
async function publishSteadily({ brokers, prefix }: Cluster, sample: (published: number) => void): Promise<void> {
  const kafka = client(brokers, 'bench-memory');
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const admin = kafka.admin();
  await Promise.all([producer.connect(), admin.connect()]);
  let published = 0;
  for (let tick = 1; published < runs; tick++) {
    const due = performance.now() + tickMs;
    const count = Math.min(runs - published, (tickMs * runsPerSecond) / 1_000);
    const messages = Array.from({ length: count }, (_, n) => request(published + n));
    await producer.send({ topic: `${prefix}${topics.requests}`, messages });
    published += count;
    if (tick % sampleTicks === 0) {
      sample(published);
      while ((await unread(admin, prefix)) > mostUnread) await delay(tickMs);
    }
    await delay(Math.max(0, due - performance.now()));
  }
  await Promise.all([producer.disconnect(), admin.disconnect()]);
}

function request(n: number): { key: string; value: string } {
  const record = { question: 'What time is it now?', group: ['work'], request_id: `r-${n}`, session_id: `s-${n}` };
  return { key: record.session_id, value: JSON.stringify(record) };
}

/** What the filter has not acknowledged. */
async function unread(admin: Admin, prefix: string): Promise<number> {
  const name = `${prefix}${topics.requests}`;
  const [group] = await admin.fetchOffsets({ groupId: `${prefix}filter`, topics: [name] });
  const read = (group?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
  return (await admin.fetchTopicOffsets(name)).reduce((sum, { high }) => sum + Number(high), 0) - read;
}
