import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { make, topics } from '@sluice/contracts';
import type { SqliteBus } from '@sluice/bus';
import { openFolderContent } from '@sluice/content';
import { claimUploads, keepFile, uploadExpiry, uploadsOf } from '@sluice/run';
import { anyRecord } from '../../../test/harness/any-record.js';
import { onBus } from '../../../libs/bus/test/sqlite/on-file.js';
import { namedContent } from '../src/named-content.js';

const going = new AbortController().signal;
const hash = (digit: string): string => digit.repeat(64);
const named = (digit: string) => ({ hash: hash(digit), type: 'image/png', size: 1, kind: 'image', name: null });
const step = (digit: string) =>
  make.agentStep({
    action: 'a',
    observation: 'o',
    stateBefore: '',
    state: '',
    toolCallId: 'c',
    content: [named(digit)],
  });
const written = (digit: string, runId: string, writtenAt = Date.now()) => ({
  ...{ tenantId: 't', runId, hash: hash(digit), writtenAt },
});

/** A step of the run that names the content. */
async function publishStep(bus: SqliteBus, requestId: string, digit: string): Promise<void> {
  const [any] = fc.sample(anyRecord(topics.steps), { numRuns: 1, seed: 7 });
  const record = { ...(any as NonNullable<typeof any>), requestId, steps: [step(digit)] };
  await bus.publish([{ topic: topics.steps, key: 's', record }]);
}

/** A turn that waits for a decision, whose first call has ended. */
async function publishWaiting(bus: SqliteBus, requestId: string, digit: string): Promise<void> {
  const of = { approvalId: 'a', requestId, sessionId: 's', tool: 't', argumentsHash: '', topic: topics.toolCalls };
  const requested = make.approvalRequested({ ...of, partition: 0, offset: 0, expiresAt: 1, steps: [step(digit)] });
  await bus.publish([{ topic: topics.approvals, key: 's', record: make.approval({ requested }) }]);
}

describe('uploads', () => {
  it('go after a day, also those that a request named, whose run has a copy of its own', () =>
    onBus(async (bus) => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-uploads-'));
      let now = Date.now();
      const store = await openFolderContent(folder, { clock: { now: () => now }, keys: [], maxBytes: 1_000 });
      const ann = { tenantId: 't', actorId: 'user:ann', subjectId: null, groups: [], connections: [] };
      const file = (text: string) => ({ bytes: Buffer.from(text), type: null, name: null });
      const [one, other] = [
        await keepFile(store, uploadsOf(ann), file('asked'), uploadExpiry(now)),
        await keepFile(store, uploadsOf(ann), file('forgotten'), uploadExpiry(now)),
      ];
      const run = { tenantId: 't', runId: 'run' };
      const content = await claimUploads(store, ann, run, [one], null);
      expect(content).toEqual([one]);
      const record = make.agentRequest({ question: 'q', requestId: 'run', content });
      await bus.publish([{ topic: topics.requests, key: 's', record }]);
      expect(await store.list(uploadsOf(ann))).toHaveLength(2);
      now += 24 * 3_600_000 + 1;
      await store.sweep((all) => namedContent(all, { bus }, going));
      expect([await store.list(uploadsOf(ann)), await store.open(uploadsOf(ann), other.hash)]).toEqual([[], undefined]);
      expect((await store.list(run)).map(({ hash }) => hash)).toEqual([one.hash]);
      await expect(claimUploads(store, ann, { ...run, runId: 'later' }, [other], null)).rejects.toThrow(
        'names no upload',
      );
      await store.close();
      rmSync(folder, { recursive: true });
    }));
});

describe('content is named', () => {
  it('by a step of its own run, and by a turn of it that waits', () =>
    onBus(async (bus) => {
      await publishStep(bus, 'run', 'a');
      await publishStep(bus, 'other', 'b');
      await publishWaiting(bus, 'run', 'c');
      const all = ['a', 'b', 'c', 'd'].map((digit) => written(digit, 'run'));
      expect(await namedContent(all, { bus }, going)).toEqual([true, false, true, false]);
    }));

  it('by the question of its own run, as it was asked and as it goes on', () =>
    onBus(async (bus) => {
      const content = [named('a')];
      await bus.publish([
        { topic: topics.requests, key: 's', record: make.agentRequest({ question: 'q', requestId: 'run', content }) },
      ]);
      const [any] = fc.sample(anyRecord(topics.steps), { numRuns: 1, seed: 7 });
      const step = any as NonNullable<typeof any>;
      const next = { ...step.next, content: [named('b')] };
      await bus.publish([{ topic: topics.steps, key: 's', record: { ...step, requestId: 'run', steps: [], next } }]);
      const all = ['a', 'b', 'c'].map((digit) => written(digit, 'run'));
      expect(await namedContent(all, { bus }, going)).toEqual([true, true, false]);
    }));

  it('by nothing before it was written', () =>
    onBus(async (bus) => {
      await publishStep(bus, 'run', 'a');
      expect(await namedContent([written('a', 'run', Date.now() + 3_600_000)], { bus }, going)).toEqual([false]);
    }));

  it('perhaps by what cannot be decoded, so that all of it stays', () =>
    onBus(async (bus) => {
      await bus.appendRaw(topics.steps, 's', Buffer.from('\u0000no record'));
      expect(await namedContent([written('a', 'run')], { bus }, going)).toEqual([true]);
    }));

  it('or not is not said by a reader that was stopped', () =>
    onBus(async (bus) => {
      const stopped = AbortSignal.abort(new Error('stopped'));
      await expect(namedContent([written('a', 'run')], { bus }, stopped)).rejects.toThrow('stopped');
    }));
});
