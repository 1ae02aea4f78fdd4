import { beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditRecord } from '@sluice/contracts';
import { createSignatures, newKeySet } from '@sluice/identity';
import { checkpointEntry, hashOf, noHead, seal, signHead, verifyAudit } from '@sluice/audit';
import type { AuditReport, Finding, Source } from '@sluice/audit';
import { configuration, logOf, response, signatures, written } from './recorded.js';
import type { Stored } from './recorded.js';

const sources = Array.from({ length: 12 }, (_, offset) => response(offset, `answer ${offset}`));
const verify = (stored: readonly Stored[], more = {}): Promise<AuditReport> =>
  verifyAudit(logOf(stored, sources), { signatures, ...more });
const named = ({ findings }: AuditReport) =>
  findings.map(({ kind, entries }) => [kind, ...(entries === null ? [] : [entries.first, entries.last])].join(' '));
/** What the sources say of it, on top. */
const ofChain = (report: AuditReport) => named(report).filter((finding) => !finding.startsWith('source_'));

let honest: Stored[];
beforeAll(async () => {
  honest = await written(sources, { every: 10, beside: true });
});

/** Every record but the one beside the chain, with its place on the log. */
const each = Array.from({ length: 26 }, (_, index) => index);
const last = 26;
const altered = (index: number, change: Partial<AuditRecord>, rehashed = false): Stored[] =>
  honest.map((stored, at) => {
    if (at !== index) return stored;
    const record = { ...stored.record, ...change };
    return { ...stored, record: rehashed ? { ...record, hash: hashOf(record) } : record };
  });

describe('an untouched log', () => {
  it('has no findings, and says how far it is sealed (M-113)', async () => {
    const report = await verify(honest);
    expect(report.findings).toEqual([]);
    expect(report.chains).toEqual([
      expect.objectContaining({
        chain: 'agent.responses/0',
        entries: last,
        sequence: last,
        sealed: last,
        checkpoints: 3,
      }),
    ]);
    expect(report.sources).toEqual({ compared: 12, gone: 0, waiting: 0 });
  });

  it('says what lies beyond the last checkpoint', async () => {
    const report = await verify(honest.slice(0, 24));
    expect(report.findings).toEqual([]);
    expect(report.chains[0]).toMatchObject({ sequence: 24, sealed: 20 });
    expect(report.sources).toMatchObject({ compared: 11, waiting: 1 });
  });
});

describe('every record, whatever is done to it (M-113)', () => {
  const changes: Readonly<Record<Exclude<keyof AuditRecord, 'hash' | 'previousHash'>, unknown>> = {
    kind: 'nothing',
    requestId: 'another',
    sessionId: 'another',
    sourceTopic: 'agent.steps',
    sourcePartition: 7,
    sourceOffset: 99,
    sourceHash: 'f'.repeat(64),
    details: '{"changed":true}',
    configVersion: 'c-2',
    at: 1,
    sequence: 99,
  };

  it.each(Object.entries({ ...changes, hash: 'e'.repeat(64), previousHash: 'd'.repeat(64) }))(
    'changed in its %s: named by its entry',
    async (field, value) => {
      for (const index of each) {
        const report = await verify(altered(index, { [field]: value }));
        expect([index, ...ofChain(report)]).toEqual([index, `changed ${index + 1} ${index + 1}`]);
        expect(report.findings.find(({ kind }) => kind === 'changed')).toMatchObject({
          chain: 'agent.responses/0',
          place: { partition: 0, offset: index },
        } satisfies Partial<Finding>);
      }
    },
  );

  it.each(['details', 'kind', 'sourceHash', 'at', 'requestId'] as const)(
    'changed in its %s, with a new hash: named by its entry, because the next one follows on another hash',
    async (field) => {
      for (const index of each.slice(0, -1)) {
        const found = ofChain(await verify(altered(index, { [field]: changes[field] }, true)));
        expect(found).toContain(`changed ${index + 1} ${index + 1}`);
      }
    },
  );

  it('dropped: named by its number', async () => {
    for (const index of each) {
      const found = ofChain(await verify(honest.filter((_, at) => at !== index)));
      expect(found).toContain(`dropped ${index + 1} ${index + 1}`);
      expect(found).toHaveLength(1);
    }
  });

  it('copied to another place: named as inserted', async () => {
    for (const index of each) {
      for (const to of [index + 1, index + 2, 25].filter((place) => place > index && place <= 26)) {
        const found = ofChain(await verify(honest.toSpliced(to, 0, honest[index] as Stored)));
        expect([index, to, ...found]).toEqual([index, to, `inserted ${index + 1} ${index + 1}`]);
      }
    }
  });

  it('swapped with the next one, or moved further: named as moved', async () => {
    for (const index of each.slice(0, -1)) {
      for (const by of [1, 2, 5].filter((step) => index + step < 26)) {
        const moved = honest.toSpliced(index, 1).toSpliced(index + by, 0, honest[index] as Stored);
        const found = ofChain(await verify(moved));
        expect([index, by, ...found]).toEqual([index, by, `moved ${index + 1} ${index + 1}`]);
      }
    }
  });

  it('under another key: named as moved', async () => {
    for (const index of each) {
      const found = ofChain(await verify(honest.map((one, at) => (at === index ? { ...one, key: 'x' } : one))));
      expect(found).toEqual([`moved ${index + 1} ${index + 1}`]);
    }
  });

  it('forged, in front of the one that was there: the forged one is named', async () => {
    for (const index of each) {
      const { record, key } = honest[index] as Stored;
      const forged = { ...record, details: '{"forged":true}', kind: 'forged' };
      const inserted = honest.toSpliced(index, 0, { key, record: { ...forged, hash: hashOf(forged) } });
      const report = await verify(inserted);
      expect(ofChain(report)).toEqual([`inserted ${index + 1} ${index + 1}`]);
      expect(report.findings[0]?.place?.offset).toBe(index);
    }
  });
});

describe('the checkpoint beside a chain', () => {
  const beside = 26;
  const changes: Partial<AuditRecord> = {
    requestId: 'another',
    sessionId: 'another',
    sourceOffset: 99,
    sourceHash: 'f'.repeat(64),
    configVersion: 'c-2',
    at: 1,
    previousHash: 'd'.repeat(64),
    hash: 'e'.repeat(64),
  };

  it.each(Object.entries(changes))('changed in its %s: named, with a new hash or the old one', async (field, value) => {
    for (const rehashed of field === 'hash' ? [false] : [false, true]) {
      const report = await verify(altered(beside, { [field]: value }, rehashed));
      expect(report.findings).toMatchObject([
        { kind: 'changed', chain: 'agent.responses/0', entries: null, place: { partition: 0, offset: beside } },
      ]);
    }
  });

  it('with a member more in its details: named', async () => {
    const details = JSON.stringify({ ...JSON.parse(honest[beside]?.record.details ?? ''), more: 1 });
    for (const rehashed of [false, true])
      expect(named(await verify(altered(beside, { details }, rehashed)))).toEqual(['changed']);
  });

  it('of another partition, or sequence, or kind: named', async () => {
    for (const change of [{ sourcePartition: 7 }, { sequence: 3 }, { kind: 'nothing' }])
      for (const rehashed of [false, true])
        expect([change, await verify(altered(beside, change, rehashed))]).not.toEqual([
          change,
          expect.objectContaining({ found: 0 }),
        ]);
  });

  it('under another key: named as moved', async () => {
    expect(named(await verify(honest.map((one, at) => (at === beside ? { ...one, key: 'x' } : one))))).toEqual([
      'moved',
    ]);
  });

  it('once more says nothing new, and one that is gone is seen by one who kept it', async () => {
    const stored = honest[beside] as Stored;
    expect(named(await verify([...honest, stored]))).toEqual([]);
    const anchors = [{ chain: 'agent.responses/0', signature: JSON.parse(stored.record.details).signature }];
    const report = await verify(honest.slice(0, 25), { anchors });
    expect(named(report)).toEqual(['dropped 26 26']);
  });
});

describe('an entry with the right hashes, without the audit’s key', () => {
  const head = () => {
    const { sequence, hash, sourceOffset: offset } = honest[25]?.record as AuditRecord;
    return { sequence, hash, offset, checkpoint: 26, checkpointAt: 0 };
  };
  const forged = (place: { topic: string; partition: number; offset: number }, from = noHead): Stored => {
    const told = { kind: 'run_ended', requestId: 'r', sessionId: 's', configVersion: 'c', details: '{}' };
    const record = seal(told, { ...place, timestamp: 1, hash: 'f'.repeat(64) }, from);
    return { key: `${place.topic}/${place.partition}`, record };
  };

  it('of a topic that the audit does not cover: named as inserted', async () => {
    const report = await verify([...honest, forged({ topic: 'agent.bogus', partition: 0, offset: 0 })]);
    expect(report.findings).toMatchObject([{ kind: 'inserted', chain: 'agent.bogus/0', place: { offset: 27 } }]);
  });

  it('that goes back to a record before the last one: named as inserted', async () => {
    for (let offset = 0; offset < 11; offset++) {
      const again = forged({ topic: 'agent.responses', partition: 0, offset }, head());
      const report = await verify([...honest, again]);
      expect(report.findings).toMatchObject([
        { kind: 'inserted', entries: { first: 27, last: 27 }, sourceOffset: offset },
      ]);
    }
  });

  it('of a partition that was not read: its chain has no checkpoint, and is said to have none', async () => {
    const report = await verify([...honest, forged({ topic: 'agent.steps', partition: 7, offset: 0 })]);
    expect(report.chains.find(({ chain }) => chain === 'agent.steps/7')).toMatchObject({ sequence: 1, sealed: 0 });
  });
});

describe('more than one record', () => {
  it.each([1, 5, 10, 20])(
    '%i records cut away before the last checkpoint are named by their numbers',
    async (count) => {
      for (let from = 0; from + count < 26; from++) {
        const found = ofChain(await verify(honest.toSpliced(from, count)));
        expect(found).toEqual([`dropped ${from + 1} ${from + count}`]);
      }
    },
  );

  it('the end cut away, but for the checkpoint beside the chain: what is missing is named', async () => {
    for (let kept = 1; kept < 26; kept++) {
      const found = ofChain(await verify([...honest.slice(0, kept), honest[26] as Stored]));
      expect(found).toEqual([`dropped ${kept + 1} 26`]);
    }
  });

  it('the end cut away with its checkpoints is seen by one who kept one of them', async () => {
    const anchors = [{ chain: 'agent.responses/0', signature: JSON.parse(honest[26]?.record.details ?? '').signature }];
    expect((await verify(honest, { anchors })).findings).toEqual([]);
    expect(ofChain(await verify(honest.slice(0, 15)))).toEqual([]);
    expect(ofChain(await verify(honest.slice(0, 15), { anchors }))).toEqual(['dropped 16 26']);
    expect(ofChain(await verify([], { anchors }))).toEqual(['dropped 1 26']);
  });

  it('all hashes computed again behind a change: the checkpoint does not agree, and the entries since the one before are named', async () => {
    for (const index of each) {
      const forged: Stored[] = [];
      let previousHash = '';
      for (const [at, { key, record }] of honest.slice(0, 26).entries()) {
        const next = { ...record, previousHash, ...(at === index ? { sessionId: 'another' } : {}) };
        previousHash = hashOf(next);
        forged.push({ key, record: { ...next, hash: previousHash } });
      }
      const [found] = ofChain(await verify([...forged, honest[26] as Stored]));
      const covering = [9, 19, 26].find((signed) => index < signed) ?? 26;
      expect(found).toMatch(/^rewritten /);
      const [, first, to] = (found ?? '').split(' ').map(Number);
      expect(first).toBeLessThanOrEqual(index + 1);
      expect(to).toBe(covering);
    }
  });

  it('a forged checkpoint behind what was cut away is named; one by an unknown key is not called forged', async () => {
    const others = createSignatures(newKeySet(0));
    const cutAt = honest.slice(0, 15);
    const { record } = cutAt.at(-1) as Stored;
    const head = { sequence: 15, hash: record.hash, offset: record.sourceOffset, checkpoint: 0, checkpointAt: 0 };
    const place = { topic: 'agent.responses', partition: 0 };
    const old = JSON.parse(honest[9]?.record.details ?? '').signature as string;
    for (const [signature, expected] of [
      [await signHead(place, head, 1, others), 'unknown_key 16 16'],
      ['trust me', 'forged 16 16'],
      [old, 'rewritten 11 15'],
    ] as const) {
      const forged = { key: 'agent.responses/0', record: checkpointEntry(place, head, 1, signature) };
      expect(ofChain(await verify([...cutAt, forged]))).toEqual([expected]);
    }
  });
});

describe('the records that have entries', () => {
  const withSources = (of: typeof sources) => verifyAudit(logOf(honest, of), { signatures });

  it('are compared: one that was changed is named, and one that is gone while others around it are there', async () => {
    expect(named(await withSources(sources.with(4, response(4, 'another answer'))))).toEqual(['source_changed']);
    expect(named(await withSources(sources.toSpliced(4, 1)))).toEqual(['source_dropped']);
  });

  it('may be gone from the beginning on: retention took them', async () => {
    const report = await withSources(sources.slice(5));
    expect(report.findings).toEqual([]);
    expect(report.sources).toEqual({ compared: 7, gone: 5, waiting: 0 });
    expect((await withSources([])).sources).toEqual({ compared: 0, gone: 12, waiting: 0 });
  });

  it('are named where they are gone and nothing takes them by itself: a configuration, the only one too', async () => {
    const applied = [0, 1].map(configuration);
    const stored = await written(applied, { every: 10, beside: true });
    const left = async (of: readonly Source[]) => (await verifyAudit(logOf(stored, of), { signatures })).findings;
    const kind = 'source_dropped';
    expect(await left(applied)).toEqual([]);
    expect(await left([])).toMatchObject([
      { kind, chain: 'agent.config/0', sourceOffset: 0, what: expect.stringContaining('kept for ever') },
      { kind, chain: 'agent.config/0', sourceOffset: 1 },
    ]);
    expect(await left(applied.slice(1))).toMatchObject([{ kind, sourceOffset: 0 }]);
  });

  it('that have no entry are named, however well the chain was mended by a holder of the keys', async () => {
    const without = await written(sources.toSpliced(4, 1), { every: 10 });
    const report = await verifyAudit(logOf(without, sources), { signatures });
    expect(report.findings).toMatchObject([{ kind: 'source_untold', sourceOffset: 4 }]);
  });

  it('are not read if that is not wanted', async () => {
    const report = await verifyAudit(logOf(honest, sources.with(4, response(4, 'x'))), { signatures, sources: false });
    expect(report).toMatchObject({ findings: [], sources: { compared: 0 } });
  });
});
