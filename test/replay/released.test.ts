import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createAuthorizer } from '@sluice/authorization';
import { openArchive } from '@sluice/archive';
import { verifyAudit } from '@sluice/audit';
import { createVerifier, readKeySet } from '@sluice/identity';
import { everything, replay } from '@sluice/replay';
import type { Replayed } from '@sluice/replay';

const folder = join(import.meta.dirname, '../fixtures/released');
const released = readdirSync(folder).filter((name) => name.endsWith('.sluice'));

describe('runs recorded with a released version', () => {
  it('are there', () => expect(released).not.toEqual([]));

  it.each(released)('%s: every decision comes out to the byte as it was recorded (G-102, G-107)', async (name) => {
    const archive = await openArchive(join(folder, name));
    const keys = readKeySet(readFileSync(join(folder, name.replace('.sluice', '.keys.json')), 'utf8'), 'the fixture');
    const decisions: Replayed[] = [];
    for await (const replayed of replay(archive, {
      selection: everything,
      verifier: createVerifier(keys),
      authorizerOf: ({ authorization }) => createAuthorizer(authorization),
      signal: new AbortController().signal,
      onUndecodable: (place, reason) => {
        throw new Error(`${JSON.stringify(place)}: ${reason}`);
      },
    }))
      decisions.push(replayed);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    const { records } = archive.trailer;
    const decided = ['agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses'];
    const wanted = decided.reduce((sum, topic) => sum + (records[topic] ?? 0), 0);
    expect(decisions.filter(({ topic }) => decided.includes(topic))).toHaveLength(wanted);
    // The sample’s runs have as many kinds of decisions; other recorded runs have more.
    expect(new Set(decisions.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(4);
  });

  it('2.sluice: what its audit recorded is still what the records say (G-102)', async () => {
    const archive = await openArchive(join(folder, '2.sluice'));
    const keys = readKeySet(readFileSync(join(folder, '2.keys.json'), 'utf8'), 'the fixture');
    const { found, sources, chains } = await verifyAudit(archive, { signatures: createVerifier(keys) });
    expect([found, sources.waiting]).toEqual([0, 0]);
    expect(sources.compared).toBeGreaterThan(100);
    expect(chains.length).toBe(8);
  });
});
