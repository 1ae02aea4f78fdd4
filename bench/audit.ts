import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchive, writeArchive } from '@sluice/archive';
import { after, chainOf, checkpointEntry, contentHash, noHead, seal, signHead, verifyAudit } from '@sluice/audit';
import type { Head, EntryDraft } from '@sluice/audit';
import { openSqliteBus } from '@sluice/bus';
import type { Bus, Incoming, Outgoing } from '@sluice/bus';
import { createCodec, make, topics } from '@sluice/contracts';
import type { AgentResponse, AuditRecord } from '@sluice/contracts';
import { createSignatures, newKeySet } from '@sluice/identity';
import { perCall, report } from './measure.js';

const records = 50_000;
const chains = 6;
const checkpointEvery = 1_000;
const signatures = createSignatures(newKeySet(0));

/** What the audit costs: telling of a record, and verifying what was told. */
export async function benchAudit(): Promise<void> {
  const entries = await manyEntries();
  const codec = await createCodec({ register: async () => 1, find: async () => undefined });
  const payloads = entries.map(({ record }) => codec.encode(topics.audit, record));
  const bytes = payloads.reduce((sum, { length }) => sum + length, 0) / payloads.length;

  const fromMemory = await perSecond(
    entries.length,
    readerOf(entries, (index) => codec.decode(topics.audit, payloads[index] as Buffer) as AuditRecord),
  );
  const [fromExport, fromFile] = [await offExport(entries), await onFile(entries)];
  const message = sampleResponse();
  const hashing = perCall(() => contentHash(message), 31, 500);
  const sealing = perCall(() => seal(sampleEntry(0), { ...message, hash: 'f'.repeat(64) }, noHead), 31, 500);

  report(`The audit, ${entries.length} entries of ${bytes.toFixed(0)} bytes in ${chains} chains`, [
    { name: 'verified off an export, opening it included', value: fromExport, unit: '/s', goal: { atLeast: 50_000 } },
    { name: 'verified, each payload decoded', value: fromMemory, unit: '/s' },
    { name: 'verified off the embedded log', value: fromFile, unit: '/s' },
    { name: 'the hash over a record of 1 KB that is told of', value: hashing / 1_000, unit: 'µs' },
    { name: 'an entry sealed', value: sealing / 1_000, unit: 'µs' },
  ]);
}

type Entry = Extract<Outgoing, { topic: 'agent.audit' }>;

async function manyEntries(): Promise<readonly Entry[]> {
  const heads = new Map<number, Head>();
  const written: Entry[] = [];
  for (let n = 0; written.length < records; n++) {
    const partition = n % chains;
    const source = { topic: 'agent.steps', partition, offset: n, timestamp: n, hash: 'f'.repeat(64) };
    let head = heads.get(partition) ?? noHead;
    const add = (record: AuditRecord): void => {
      head = after(head, record);
      written.push({ topic: topics.audit, key: chainOf(source), record });
    };
    add(seal(sampleEntry(n), source, head));
    if (head.sequence % checkpointEvery === 0)
      add(checkpointEntry(source, head, n, await signHead(source, head, n, signatures)));
    heads.set(partition, head);
  }
  return written;
}

function sampleEntry(n: number): EntryDraft {
  const details = JSON.stringify({ iteration: 1, tool: 'knowledge-query', observation: 'x'.repeat(560), n });
  return {
    kind: 'tool_call',
    requestId: `request-${n}`,
    sessionId: `session-${n}`,
    configVersion: 'c-0123456789abcdef',
    details,
  };
}

function sampleResponse(): Incoming<'agent.responses'> {
  const record: AgentResponse = make.agentResponse({
    requestId: 'request',
    sessionId: 'session',
    kind: 'answer',
    answer: 'x'.repeat(800),
    question: 'Which one?',
    state: 'analysis',
    iterations: 2,
    configVersion: 'c-1',
    endedAt: 1,
  });
  return { topic: 'agent.responses', partition: 0, offset: 0, key: 'session', headers: {}, timestamp: 1, record };
}

function readerOf(entries: readonly Entry[], recordAt: (index: number) => AuditRecord): Pick<Bus, 'read'> {
  return {
    read: () =>
      (async function* () {
        for (const [offset, { key }] of entries.entries()) {
          const place = { topic: topics.audit, partition: 0, offset, key, headers: {}, timestamp: 0 } as const;
          yield { ...place, record: recordAt(offset) } as Incoming<never>;
        }
      })(),
  };
}

async function perSecond(count: number, log: Pick<Bus, 'read'>, start = process.cpuUsage()): Promise<number> {
  // Of the processor, since that is what one core means on a machine that others use too.
  const { found } = await verifyAudit(log, { signatures, sources: false });
  if (found > 0) throw new Error(`${found} findings in what nobody touched.`);
  const { user, system } = process.cpuUsage(start);
  return (count / (user + system)) * 1_000_000;
}

async function offExport(entries: readonly Entry[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'audit.sluice');
  const selection = { from: null, to: null, session: null, tenant: null, topics: null };
  const records = readerOf(entries, (index) => (entries[index] as Entry).record).read([topics.audit], {
    from: 'start',
  });
  try {
    await writeArchive(file, { selection, createdAt: 0, records, undecodable: () => 0 });
    const start = process.cpuUsage();
    return await perSecond(entries.length, await openArchive(file), start);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onFile(entries: readonly Entry[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const here = { clock: { now: () => Date.now() }, instance: 'bench', processId: process.pid, isAlive: () => false };
  const bus = await openSqliteBus({ file: join(folder, 'log.sqlite'), ...here });
  try {
    for (let from = 0; from < entries.length; from += 1_000) await bus.publish(entries.slice(from, from + 1_000));
    return await perSecond(entries.length, bus);
  } finally {
    await bus.close();
    await rm(folder, { recursive: true, force: true });
  }
}
