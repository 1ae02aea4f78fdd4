import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { make, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { readKeySet } from '@sluice/identity';
import { builtInTools } from '@sluice/packs';
import { defineTool } from '@sluice/tools';
import { startByHand } from './harness/by-hand.js';
import type { ByHand } from './harness/by-hand.js';
import { eventually } from './harness/eventually.js';
import { ScriptedModel } from './harness/system.js';
import { replayed } from './replay/replaying.js';

let done = 0;
const tool = (type: string, effect: 'read_only' | 'external_side_effect') =>
  defineTool({
    ...{ type, description: 'Does something', effect, redaction: { whole: true }, capabilities: [] },
    ...{ input: z.strictObject({}), output: z.string(), repeatable: false, requiresConnection: false },
    execute: () => Promise.resolve(`${type} ${++done}`),
  });
const contracts = [
  tool('look', 'read_only'),
  tool('act', 'external_side_effect'),
  ...builtInTools.filter(({ type }) => type === 'agent'),
];

const roles = ['filter', 'agent', 'executor'] as const;
const loop = [
  ...[topics.requests, topics.toolsets, topics.toolCalls, topics.steps, topics.approvals],
  ...[topics.responses, topics.cancellations, topics.deadLetters],
] as const;
const read: Readonly<Record<(typeof roles)[number], readonly Topic[]>> = {
  filter: [topics.requests, topics.steps, topics.cancellations],
  agent: [topics.toolsets],
  executor: [topics.toolCalls, topics.approvals, topics.responses],
};

/** As `kafka-consumer-groups --reset-offsets --to-earliest` does it of a group that has stopped. */
function setBack({ folder }: ByHand, groups: readonly string[]): void {
  const database = new DatabaseSync(join(folder, 'log.sqlite'));
  for (const group of groups) {
    database.prepare('UPDATE positions SET prefix = 0 WHERE consumer_group = ?').run(group);
    database.prepare('DELETE FROM finished WHERE consumer_group = ?').run(group);
  }
  database.close();
}

describe('a group whose offsets an operator sets back', () => {
  let system: ByHand;
  /** Says something else each time. */
  let asked = 0;
  const model = new ScriptedModel(({ question, history }) => {
    asked++;
    const call = { Look: 'core__look', Act: 'core__act', Delegate: 'core__helper' }[question];
    if (call === undefined || history.length > 0) return { answer: `Answer ${asked}` };
    return { calls: [[call, call === 'core__helper' ? '{"question":"Who?"}' : '{}']] };
  });
  beforeAll(async () => {
    const helper = { type: 'agent', description: 'Helps', group: ['help'], agent: { group: ['other'] } };
    const policy = { allowed_tools: ['look', 'act', 'helper'], allowed_agents: ['helper'] };
    system = await startByHand(
      {
        tool: { look: { type: 'look' }, act: { type: 'act' }, helper },
        policy: { ...policy, approval: { approvers: ['*'] } },
      },
      { contracts, model },
    );
    for (const role of roles) await system.start(role);
    for (const question of ['Look', 'Act', 'Delegate', 'Hello']) await system.request(question, { question });
    await system.request('invalid', { question: '' });
    const [waiting] = await eventually(
      () => system.all('agent.approvals'),
      ({ length }) => length > 0,
    );
    const { requested, partition, offset } = { ...waiting, ...waiting?.record };
    if (requested == null) throw new Error('Nobody asked for an approval.');
    const { approvalId, requestId, sessionId, argumentsHash } = requested;
    const place = { requestedPartition: partition ?? 0, requestedOffset: offset ?? 0 };
    const decided = make.approvalDecided({
      ...{ approvalId, requestId, sessionId, decision: 'approve', decidedBy: 'ann', reason: '', argumentsHash },
      ...{ ...place, decidedAt: Date.now() },
    });
    await system.bus.publish([
      { topic: topics.approvals, key: sessionId, record: make.approval({ decided }) },
      {
        topic: topics.cancellations,
        key: 'Look',
        record: { requestId: 'Look', sessionId: 'Look', reason: 'No.', askedAt: 1, mustExist: false, outcome: null },
      },
    ]);
    for (const id of ['Look', 'Act', 'Delegate', 'Hello', 'invalid']) await system.responseOf(id);
    await idle();
  });
  afterAll(() => system.close());

  /** Nothing is left to do for any group, however what one does wakes another. */
  const idle = async (): Promise<void> => {
    for (let before = -1, now = 0; before !== now;) {
      before = now;
      for (const role of roles) await system.caughtUp(role, ...read[role]);
      now = (await system.all(...loop)).length;
    }
  };
  const counts = async () =>
    Object.fromEntries(await Promise.all(loop.map(async (t) => [t, (await system.all(t)).length])));

  it.each<[string, readonly (typeof roles)[number][]]>([
    ['all groups', roles],
    ['the agent’s alone', ['agent']],
    ['the filter’s alone', ['filter']],
    ['the executor’s alone', ['executor']],
  ])('%s: brings no run a second end, and nothing that was done is done or asked again', async (_, groups) => {
    const before = [await counts(), asked, done];
    for (const role of roles) await system.stop(role);
    setBack(system, groups);
    for (const role of roles) await system.start(role);
    await idle();
    expect([await counts(), asked, done]).toEqual(before);
    expect((await system.all('agent.dead-letters')).map(({ record }) => record.code)).toEqual(['invalid_request']);
    const keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
    const decisions = await replayed(system.bus, keys);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(system.lines()).not.toContain('find out who wrote it');
  });

  it('brings no second Toolset where the next service has not taken the first', async () => {
    await system.stop('agent');
    await system.request('waits', { question: 'Hello' });
    await system.caughtUp('filter', topics.requests);
    const before = await counts();
    await system.stop('filter');
    setBack(system, ['filter']);
    await system.start('filter');
    await system.caughtUp('filter', ...read.filter);
    expect(await counts()).toEqual(before);
    await system.start('agent');
    await system.responseOf('waits');
    await idle();
  });

  it('is what its service says of the records', () => {
    expect(system.lines()).toContain(
      'skipped a record that was handled before: the offsets of its group were set back, or lost',
    );
  });
});
