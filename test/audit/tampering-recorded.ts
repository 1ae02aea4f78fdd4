import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive } from '@sluice/archive';
import { chainOf, hashOf, signHead, sourceTopics, verifyAudit } from '@sluice/audit';
import type { Anchor, AuditReport } from '@sluice/audit';
import type { Bus, Incoming } from '@sluice/bus';
import { createSignatures, newKeySet } from '@sluice/identity';

type Entry = Incoming<'agent.audit'>;
type Change = (log: readonly Incoming[], index: number) => readonly Incoming[];

const signatures = createSignatures(newKeySet(0));
/** All that real runs left on the log, in its order. */
const log: Incoming[] = [];
/** Each chain's end, as a verifier keeps it elsewhere. */
const anchors: Anchor[] = [];

const recordAt = (index: number): Entry['record'] => (log[index] as Entry).record;
function chainAt(index: number): string {
  const { sourceTopic, sourcePartition } = recordAt(index);
  return chainOf({ topic: sourceTopic, partition: sourcePartition });
}
function entries(): { readonly index: number; readonly chain: string; readonly sequence: number }[] {
  return log.flatMap(({ topic }, index) =>
    topic === 'agent.audit' ? [{ index, chain: chainAt(index), sequence: recordAt(index).sequence }] : [],
  );
}

/** With each record of a topic in its place, as a log that was written again has them. */
function verify(tampered: readonly Incoming[]): Promise<AuditReport> {
  const read = async function* (topics: readonly string[]) {
    let offset = 0;
    for (const message of tampered)
      if (topics.includes(message.topic))
        yield (message.topic === 'agent.audit' ? { ...message, offset: offset++ } : message) as Incoming<never>;
  };
  return verifyAudit({ read } as Pick<Bus, 'read'>, { signatures, anchors });
}
const findings = ({ findings: found }: AuditReport): string[] =>
  found
    .filter(({ kind }) => !kind.startsWith('source_'))
    .map(({ kind, chain, entries: of }) => `${kind} ${chain} ${of?.first} ${of?.last}`);

const withField =
  (change: (record: Entry['record']) => Partial<Entry['record']>): Change =>
  (all, index) =>
    all.with(index, { ...all[index], record: { ...recordAt(index), ...change(recordAt(index)) } } as Entry);
/** Where the next entry of the same chain stands, if there is one. */
const nextOf = (index: number): number | undefined =>
  entries().find((one) => one.index > index && one.chain === chainAt(index))?.index;

/** Changes each record whose number `every` divides, one at a time, and looks what the audit says. */
export function tampering(every: number): void {
  const some = <T>(all: readonly T[]): readonly T[] => all.filter((_, count) => count % every === 0);

  beforeAll(async () => {
    const archive = await openArchive(join(import.meta.dirname, '../fixtures/released/2.sluice'));
    for await (const message of archive.read([...sourceTopics, 'agent.audit'], { from: 'start' }))
      log.push({ ...message, avro: null });
    const ends = new Map(entries().map(({ index }) => [chainAt(index), recordAt(index)]));
    for (const [chain, { sequence, hash, sourceTopic: topic, sourcePartition: partition, sourceOffset }] of ends) {
      const head = { sequence, hash, offset: sourceOffset, checkpoint: 0, checkpointAt: 0 };
      anchors.push({ chain, signature: await signHead({ topic, partition }, head, 1, signatures) });
    }
  });

  describe('the audit of real runs, single records of it', () => {
    it('is sound as it is, up to the ends that were kept', async () => {
      const { found, chains, sources } = await verify(log);
      expect([found, chains.length, sources.waiting]).toEqual([0, 8, 0]);
      expect(entries().length).toBeGreaterThan(100);
      expect(some(entries()).length).toBeGreaterThan(10);
    });

    it.each<[string, string, Change]>([
      ['changed in what it tells', 'changed', withField(({ details }) => ({ details: details.replace('{', '{"more":1,') }))],
      ['said to be of another kind', 'changed', withField(() => ({ kind: 'nothing' }))],
      ['given to another run', 'changed', withField(() => ({ requestId: 'another' }))],
      ['given to another session', 'changed', withField(() => ({ sessionId: 'another' }))],
      ['given to another configuration', 'changed', withField(() => ({ configVersion: 'c-0' }))],
      ['set to another time', 'changed', withField(({ at }) => ({ at: at + 1 }))],
      ['said to be of another record', 'changed', withField(({ sourceOffset }) => ({ sourceOffset: sourceOffset + 1 }))],
      ['said to be of a record that says something else', 'changed', withField(() => ({ sourceHash: 'f'.repeat(64) }))],
      ['given another hash', 'changed', withField(() => ({ hash: 'e'.repeat(64) }))],
      ['put behind another hash', 'changed', withField(() => ({ previousHash: 'd'.repeat(64) }))],
      ['dropped', 'dropped', (all, index) => all.toSpliced(index, 1)],
      ['copied behind itself', 'inserted', (all, index) => all.toSpliced(index + 1, 0, all[index] as Incoming)],
      ['copied to the end', 'inserted', (all, index) => [...all, all[index] as Incoming]],
      ['put under another key', 'moved', (all, index) => all.with(index, { ...all[index], key: 'x' } as Entry)],
    ])('%s: named, with its chain', async (_, kind, change) => {
      for (const { index, chain, sequence } of some(entries()))
        expect(findings(await verify(change(log, index)))).toEqual([`${kind} ${chain} ${sequence} ${sequence}`]);
    }); // prettier-ignore

    it('moved past the next one of its chain: named, with its chain', async () => {
      let moved = 0;
      for (const { index, chain, sequence } of some(entries())) {
        const next = nextOf(index);
        if (next === undefined) continue;
        moved++;
        const tampered = log.toSpliced(index, 1).toSpliced(next, 0, log[index] as Incoming);
        expect(findings(await verify(tampered))).toEqual([`moved ${chain} ${sequence} ${sequence}`]);
      }
      expect(moved).toBeGreaterThan(some(entries()).length / 2);
    });

    it('that it covers, changed or dropped: named by its position', async () => {
      const offsets = new Map<string, number>();
      for (const [index, message] of log.entries()) {
        if (message.topic === 'agent.audit') continue;
        const chain = chainOf(message);
        const isFirst = !offsets.has(chain);
        offsets.set(chain, message.offset);
        if (index % every !== 0) continue;
        const changed = log.with(index, { ...message, timestamp: message.timestamp + 1 });
        for (const [kind, tampered] of [['source_changed', changed], ['source_dropped', log.toSpliced(index, 1)]] as const) {
          // From the beginning on retention takes them.
          if (isFirst && kind === 'source_dropped') continue;
          expect((await verify(tampered)).findings).toMatchObject([{ kind, chain, sourceOffset: message.offset }]);
        }
      }
      expect(offsets.size).toBe(8);
    }); // prettier-ignore

    it.each<[string, string | number, Change]>([
      ['request_id', 'another', withField(() => ({ requestId: 'another' }))],
      ['session_id', 'another', withField(() => ({ sessionId: 'another' }))],
      ['kind', 'nothing', withField(() => ({ kind: 'nothing' }))],
      ['at', 7, withField(() => ({ at: 7 }))],
      ['source_hash', 'f'.repeat(64), withField(() => ({ sourceHash: 'f'.repeat(64) }))],
      ['details.more', 1, withField(({ details }) => ({ details: details.replace('{', '{"more":1,') }))],
    ])('with another %s: says what was, what is, and whose run it is', async (field, is, change) => {
      for (const { index, sequence } of some(entries())) {
        const { kind, requestId, sessionId } = recordAt(index);
        if (kind === 'checkpoint') continue;
        const found = (await verify(change(log, index))).findings.find((one) => one.kind === 'changed');
        expect(found?.differences.map((one) => [one.entry, one.field])).toEqual([
          [sequence, 'hash'],
          [sequence, field],
        ]);
        expect(found?.differences[1]?.is).toBe(is);
        expect(found?.differences[1]?.was).not.toBe(is);
        const isOfRun = requestId !== '' || sessionId !== '';
        expect(found?.runs).toEqual(isOfRun ? [{ requestId, sessionId, tenant: tenantIn(recordAt(index)) }] : []);
      }
    });

    it('rewritten with all hashes behind it: says what was signed, and which member of which entry was another one', async () => {
      for (const { index, chain, sequence } of some(entries()).filter((_, count) => every > 1 || count % 10 === 0)) {
        if (recordAt(index).kind === 'checkpoint') continue;
        let tampered: readonly Incoming[] = log;
        let previousHash: string | null = null;
        for (const one of entries().filter((other) => other.chain === chain && other.index >= index)) {
          const { hash: _, ...was } = recordAt(one.index);
          const entry = { ...was, previousHash: previousHash ?? was.previousHash };
          if (one.index === index) entry.details = entry.details.replace('{', '{"more":1,');
          previousHash = hashOf(entry);
          tampered = tampered.with(one.index, { ...log[one.index], record: { ...entry, hash: previousHash } } as Entry);
        }
        const found = (await verify(tampered)).findings.find(({ kind }) => kind === 'rewritten');
        expect(found?.differences).toContainEqual({ entry: sequence, field: 'details.more', was: null, is: 1 });
        const signed = found?.differences[0];
        expect(signed).toMatchObject({ entry: found?.entries?.last, field: 'hash' });
        expect([signed?.was, signed?.is]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(String)]);
        expect(signed?.was).not.toBe(signed?.is);
        const { requestId } = recordAt(index);
        if (requestId !== '') expect(found?.runs.map((run) => run.requestId)).toContain(requestId);
      }
    });

    it('dropped, or whose record changed or was dropped: names the run, and the hash that was', async () => {
      for (const { index } of some(entries())) {
        const record = recordAt(index);
        const next = nextOf(index);
        if (record.kind === 'checkpoint' || record.requestId === '' || next === undefined) continue;
        const run = { requestId: record.requestId, sessionId: record.sessionId };
        const dropped = (await verify(log.toSpliced(index, 1))).findings.find((one) => one.kind === 'dropped');
        expect(dropped?.differences).toEqual([{ entry: record.sequence, field: 'hash', was: record.hash, is: null }]);
        expect(dropped?.runs).toMatchObject([run]);
        const at = log.findIndex(
          ({ topic, partition, offset }) =>
            topic === record.sourceTopic && partition === record.sourcePartition && offset === record.sourceOffset,
        );
        const later = log.with(at, { ...log[at], timestamp: 9 } as Incoming);
        const changed = (await verify(later)).findings.find((one) => one.kind === 'source_changed');
        expect(changed?.runs).toMatchObject([run]);
        expect(changed?.differences.find(({ field }) => field === 'at')).toMatchObject({ was: record.at, is: 9 });
        expect(changed?.differences.at(-1)).toMatchObject({ field: 'source_hash', was: record.sourceHash });
      }
    }); // prettier-ignore
  });
}

function tenantIn({ details }: Entry['record']): string | null {
  return (JSON.parse(details) as { tenant?: string | null }).tenant ?? null;
}
