import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { readKeySet, unverified } from '@sluice/identity';
import { everything } from '@sluice/replay';
import { dataFiles } from '@sluice/host';
import { RecordedConfigurations } from '../../libs/replay/src/configurations.js';
import { codecForComparing } from '../../libs/replay/src/codec.js';
import { DeadEnds } from '../../libs/replay/src/dead-ends.js';
import { replaying } from '../../libs/replay/src/replay.js';
import { readRuns, recordsOf } from '../../libs/replay/src/runs.js';
import type { DeadLetters, RunRecords } from '../../libs/replay/src/run-records.js';
import { Packing, unpack } from '../../libs/replay/src/threads/packing.js';
import { perform } from '../../libs/replay/src/work.js';
import { authorizerOf, changed, replayed } from '../replay/replaying.js';
import { hops, startDying } from './dying.js';
import type { Dying } from './dying.js';

describe('a redrive that comes later than its run’s end can be seen from its records', () => {
  let dying: Dying;
  let redrivenAt: number;
  beforeAll(async () => {
    dying = await startDying({ limits: { max_iterations: 2 } });
    for (const [index, [, , , cut]] of hops.entries()) {
      cut(dying);
      await dying.publish(`hop-${index}`);
      await dying.end(`hop-${index}`);
      dying.mend();
    }
    await new Promise((resolve) => setTimeout(resolve, 5_100));
    redrivenAt = Date.now();
    for (const index of hops.keys()) {
      await dying.command('redrive', await dying.letterOf(`hop-${index}`));
      expect(await dying.end(`hop-${index}`, 2)).toMatchObject({ kind: 'answer', answer: 'ok,ok' });
    }
  });
  afterAll(() => dying.close());

  it('leaves decisions that a replay makes once more to the byte', async () => {
    const decisions = await replayed(dying.runtime.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(decisions.filter(({ kind }) => kind === 'end')).toHaveLength(2 * hops.length);
  });

  it('leaves decisions that cannot be replayed, and none that differ, where what came before is not among the records', async () => {
    const keys = readKeySet(readFileSync(dataFiles(dying.runtime.environment).keys, 'utf8'), 'keys.json');
    for (const known of [keys, null]) {
      const since = changed(dying.runtime.bus, (message) =>
        message.topic === topics.config || message.timestamp >= redrivenAt ? message : null,
      );
      const decisions = await replayed(since, known);
      expect(decisions.filter(({ outcome }) => outcome.kind === 'different')).toEqual([]);
      const reason = 'It gave back a turn that was re-driven, whose Toolset is not among the records.';
      expect(decisions).toContainEqual(
        expect.objectContaining({ kind: 'steps', outcome: { kind: 'not_replayable', reason } }),
      );
    }
  });

  it('is judged with its dead letters in another thread too', async () => {
    const reader = dying.runtime.bus;
    const codec = await codecForComparing();
    const reading = { signal: new AbortController().signal, onUndecodable: () => undefined };
    const configurations = await RecordedConfigurations.read(reader, reading, unverified);
    const work = await replaying(configurations, { selection: everything, verifier: unverified, authorizerOf });
    const gathering = { selection: everything, signal: new AbortController().signal };
    for await (const { run, dead } of readRuns(reader, gathering)) {
      const packing = new Packing();
      packing.add(run, dead);
      const [unpacked] = [...unpack(packing.pack(), codec)];
      const there = await perform(work, unpacked?.run as RunRecords, unpacked?.dead as DeadLetters);
      expect(there.found.length).toBeGreaterThan(0);
      expect(there).toEqual(await perform(work, recordsOf(run.requestId, run.messages, codec), dead));
      expect(there.found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    }
  });

  it('finds its run held as far as there is room', async () => {
    const idsOf = async (deadEnds: DeadEnds): Promise<readonly string[]> => {
      const found: string[] = [];
      const gathering = { selection: everything, signal: new AbortController().signal };
      for await (const { run } of readRuns(dying.runtime.bus, gathering, deadEnds)) found.push(run.requestId);
      return found.toSorted();
    };
    const ids = [...hops.keys()].map((index) => `hop-${index}`);
    // What died at its request needs nothing of before, and is not held.
    expect(await idsOf(new DeadEnds())).toEqual(['hop-0', ...ids].toSorted());
    expect(await idsOf(new DeadEnds(0))).toEqual([...ids, ...ids].toSorted());
  });
});
