import { describe, expect, it } from '@jest/globals';
import { beginRun, localPrincipal } from '@sluice/core';
import { make, sha256 } from '@sluice/contracts';
import type { OfferedList, Toolset } from '@sluice/contracts';
import { after, chainOf, contentHash, entriesOf, noHead, seal, verifyAudit } from '@sluice/audit';
import type { Head, Source } from '@sluice/audit';
import { logOf, signatures } from './recorded.js';
import type { Stored } from './recorded.js';

const facts = { tools: () => undefined, authentic: true };
const tool = { id: 'core__a', key: 'a', description: '', inputSchema: '', effect: 'read_only', schemaHash: 'sa' };
const writtenOut = { ...tool, description: 'Tells the time.', inputSchema: '{"type":"object"}' };
const hidden = [{ key: 'b', reasons: ['group'] }];
const hiddenCounts = { group: 1 };
const list = (indexes: readonly number[], since: number): OfferedList => ({ hash: 'lh', indexes, since });

const limits = { maxIterations: 10, runMs: 60_000, historyBytes: 1_000 };

function toolset(iteration: number, more: Partial<Toolset>): Toolset {
  const ids = { requestId: 'r', sessionId: 's', iteration };
  const request = { ...make.agentRequest({ question: 'Q' }), ...ids };
  const run = beginRun(request, [], 'begun', limits, localPrincipal, 1);
  return make.toolset({ ...ids, request, run, groups: [], state: 'begun', configVersion: 'c', decidedAt: 0, ...more });
}
const detailsOf = (record: Toolset): Record<string, unknown> => {
  const [entry] = entriesOf(sourceOf(record, 0), facts);
  return JSON.parse(entry?.details ?? '') as Record<string, unknown>;
};

function sourceOf(record: Toolset, offset: number): Source {
  return { topic: 'agent.toolsets', partition: 0, offset, key: 's', headers: {}, timestamp: 1_000 + offset, record };
}

describe('the entry of a Toolset', () => {
  it('of a former version, which writes its tools out, is as that version made it', () => {
    const said = detailsOf(toolset(1, { tools: [writtenOut], hidden, hiddenCounts }));
    expect(said).toMatchObject({
      offered: ['a'],
      offered_hash: sha256(JSON.stringify([['core__a', 'sa']])),
      hidden,
      hidden_counts: hiddenCounts,
      unknown_groups: [],
      unavailable: [],
    });
    for (const name of ['offered_since', 'offered_indexes', 'hidden_indexes']) expect(said).not.toHaveProperty(name);
    // Also one that was offered nothing says so in each iteration.
    expect(detailsOf(toolset(2, {}))).toMatchObject({ offered: [], offered_hash: sha256('[]'), hidden: [] });
  });

  it('has names of a short list, indexes of a long one, and of the same one the iteration that has them', () => {
    const short = detailsOf(toolset(1, { tools: [tool], hidden, hiddenCounts, list: list([0, 1], 1) }));
    expect(short).toMatchObject({
      offered: ['a'],
      offered_hash: 'lh',
      offered_indexes: [0, 1],
      offered_since: 1,
      hidden,
    });
    const indexes = [{ reasons: ['group'], indexes: [40, 60] }];
    const long = detailsOf(toolset(1, { hiddenCounts, hiddenIndexes: indexes, list: list([0, 40], 1) }));
    expect(long).toMatchObject({ offered_indexes: [0, 40], offered_since: 1, hidden_indexes: indexes });
    const same = detailsOf(toolset(3, { hiddenCounts, list: list([0, 40], 1) }));
    expect(same).toMatchObject({ offered_since: 1, hidden_counts: hiddenCounts });
    for (const name of ['offered', 'offered_indexes', 'offered_hash', 'hidden', 'hidden_indexes'])
      expect(same).not.toHaveProperty(name);
  });
});

describe('a chain over Toolsets of both forms', () => {
  const records = [
    toolset(1, { tools: [writtenOut], hidden, hiddenCounts }),
    toolset(2, { tools: [writtenOut], hidden, hiddenCounts }),
    toolset(1, { requestId: 'r2', tools: [tool], hidden, hiddenCounts, list: list([0, 1], 1) }),
    toolset(2, { requestId: 'r2', hiddenCounts, list: list([0, 1], 1) }),
  ];
  const sources = records.map(sourceOf);
  const stored: Stored[] = [];
  let head: Head = noHead;
  for (const source of sources)
    for (const entry of entriesOf(source, facts)) {
      const record = seal(entry, { ...source, hash: contentHash(source) }, head);
      stored.push({ key: chainOf(source), record });
      head = after(head, record);
    }
  const verify = (of: readonly Source[]) => verifyAudit(logOf(stored, of), { signatures });

  it('verifies against its sources', async () => {
    const { findings, sources: compared } = await verify(sources);
    expect([findings, compared.compared, compared.waiting]).toEqual([[], records.length, 0]);
  });

  it.each<[string, number, Partial<Toolset>]>([
    ['another description, where it is written out', 0, { tools: [{ ...writtenOut, description: 'Tells all.' }] }],
    ['another schema, where it is written out', 1, { tools: [{ ...writtenOut, inputSchema: '{}' }] }],
    ['a list, where there was none', 1, { list: list([0, 1], 1) }],
    ['another hash of a named tool', 2, { tools: [{ ...tool, schemaHash: 'other' }] }],
    ['other indexes', 3, { list: list([0, 2], 1) }],
    ['no list', 3, { list: null }],
  ])('finds a source with %s', async (_, at, change) => {
    const changed = sources.map((source, n) =>
      n === at ? sourceOf({ ...(records[n] as Toolset), ...change }, n) : source,
    );
    const { findings } = await verify(changed);
    expect(findings.map(({ kind, sourceOffset }) => [kind, sourceOffset])).toEqual([['source_changed', at]]);
  });
});
