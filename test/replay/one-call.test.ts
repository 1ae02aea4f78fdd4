import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { openArchive, selectRecords, writeArchive } from '@sluice/archive';
import type { AgentStepResult, Topic } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { newKeySet, readKeySet, unverified } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import { asked, decide } from '../harness/approving.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { authorizerOf, changed, replayed, undecodable } from './replaying.js';

const configuration = `
tool:
  clock: { type: get_current_time, group: [basic] }
  todo: { type: add_todo, group: [write], state: planned }
  notes: { type: read_file, group: [basic], available_in_states: [analysis] }
policy:
  allowed_tools: [clock, todo, notes]
  approval: { approvers: ['user:ann'], effects: [state_change] }
identity: { provider: none }
model: { provider: rules }
`;

const call = (tool: string, args: string) => ({ tool, arguments: args, order: null });
const todo = call('todo', '{"task":"Try it"}');

/** A request’s own call by its run: one that is made, each way that it is refused, and calls that wait. */
describe('a call that its request makes itself', () => {
  let system: TestSystem;
  let keys: KeySet;
  beforeAll(async () => {
    system = await startSystem(configuration, new ScriptedModel(inOrder()));
    keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
    const ask = (requestId: string, one: ReturnType<typeof call>, group: string[], more = {}) =>
      system.ask({ requestId, sessionId: requestId, call: one, group, ...more });
    await ask('made', call('clock', '{"timezone":"Asia/Tokyo"}'), ['basic']);
    await ask('group', todo, ['basic']);
    await ask('state', call('notes', '{"path":"a"}'), ['basic', 'nobody-has-this']);
    await ask('unknown', call('nothing', '{}'), ['basic']);
    await ask('no-json', call('clock', '{"zone"'), ['basic']);
    await ask('late', call('clock', '{}'), ['basic'], { deadline: 1 });
    for (const [n, decision] of ['approve', 'refuse'].entries()) {
      const end = ask(`waits-${decision}`, todo, ['write']);
      await decide(system, await asked(system, n + 1), decision, { decidedBy: 'user:ann' });
      await end;
    }
  });
  afterAll(() => system.close());

  const unequal = (decisions: Awaited<ReturnType<typeof replayed>>) =>
    decisions.flatMap(({ kind, requestId, outcome }) => {
      if (outcome.kind === 'equal') return [];
      const what =
        outcome.kind === 'different' ? outcome.differences.map(({ path, was }) => `${path} ${was}`) : outcome.reason;
      return [`${kind} of ${requestId}: ${String(what)}`];
    });

  /** What is not equal once the record of the run is changed so. */
  async function after<T extends Topic>(topic: T, run: string, change: object): Promise<string[]> {
    const tampered = changed(system.bus, (message) => {
      const { record } = message as Incoming<'agent.steps'>;
      if (message.topic !== topic || record.requestId !== run) return message;
      return { ...message, record: { ...record, ...change } } as Incoming;
    });
    return unequal(await replayed(tampered, keys));
  }

  it('comes out to the byte with its end, whether it is made, refused, late or has to wait', async () => {
    const decisions = await replayed(system.bus, keys);
    expect(unequal(decisions)).toEqual([]);
    const kindsOf = (id: string) => decisions.filter((one) => one.requestId === id).map(({ kind }) => kind);
    for (const id of ['made', 'group', 'state', 'unknown', 'no-json']) expect(kindsOf(id)).toEqual(['steps', 'end']);
    expect(kindsOf('late')).toEqual(['end']);
    // Behind the approval it goes on as every turn.
    const waited = ['tools', 'turn', 'approval asked', 'approval judged', 'steps', 'end'];
    for (const id of ['waits-approve', 'waits-refuse']) expect(kindsOf(id)).toEqual(waited);
    expect(unequal(await replayed(system.bus, null))).toEqual([]);
    const selection = { from: null, to: null, session: null, tenant: 'local', topics: null };
    const file = join(system.folder, 'calls.sluice');
    const records = selectRecords(system.bus, selection, () => undefined, new AbortController().signal);
    await writeArchive(file, { selection, createdAt: Date.now(), records, undecodable: () => 0 });
    expect(await replayed(await openArchive(file), keys)).toEqual(decisions);
  });

  it('names all tools behind a call that waited, since no Toolset before has them', async () => {
    for (const { record } of await system.all('agent.toolsets')) {
      expect([record.iteration, record.list?.since]).toEqual([2, 2]);
      expect(record.tools.map(({ key }) => key)).toEqual(['todo']);
    }
  });

  it.each([
    ['when it was decided', { decidedAt: 1 }, 'call.decided_at'],
    ['groups', { groups: ['write'] }, 'call.groups.0'],
    ['why the tool was hidden', { hidden: [] }, 'call.hidden.0'],
    ['how many were hidden', { hiddenCounts: {} }, 'call.hidden_counts.group'],
    ['unknown groups', { unknownGroups: [] }, 'call.unknown_groups.0'],
    ['the list of tools', { listHash: 'x' }, 'call.list_hash'],
  ])('is found where %s was changed', async (_, change, path) => {
    const [message] = (await system.all('agent.steps')).filter(({ record }) => record.requestId === 'state');
    const decided = { ...(message?.record.call as NonNullable<AgentStepResult['call']>), ...change };
    const [found] = await after('agent.steps', 'state', { call: decided });
    expect(found).toContain('steps of state: ');
    if (path !== 'call.decided_at') expect(found).toContain(path);
    expect(found).toContain('record_signature The record is not as it was signed.');
  });

  it('is found where its signature is missing, another’s, or of the executor’s other key', async () => {
    expect(await after('agent.steps', 'made', { recordSignature: null })).toEqual([
      'steps of made: record_signature The record is not signed.',
    ]);
    expect(await after('agent.steps', 'made', { signature: 'a.b.c' })).toEqual(['steps of made: signature "a.b.c"']);
    expect(await after('agent.tool-calls', 'waits-approve', { grant: null })).toEqual([
      expect.stringMatching(/^turn of waits-approve: grant The record carries no grant/),
    ]);
    const others = unequal(await replayed(system.bus, newKeySet(1)));
    expect(others).toContainEqual(expect.stringMatching(/^steps of made: record_signature It names the key call-/));
    expect(await after('agent.responses', 'made', { answer: 'Noon' })).toEqual([
      'end of made: answer "Noon",record_signature The record is not as it was signed.',
    ]);
  });

  /** What would be otherwise with tools and policy changed. */
  async function under(change: (configuration: Configuration) => Configuration) {
    const { configuration: current } = system.embedded.runtime.configurations.current();
    const candidate = compileEvaluator({ ...change(current), version: 'c-candidate' });
    const signal = new AbortController().signal;
    const options = { candidate, selection: everything, authorizerOf, signal, verifier: unverified };
    const found: Record<string, readonly object[]> = {};
    for await (const one of whatIf(system.bus, { ...options, onUndecodable: undecodable })) {
      expect(one.notReplayable).toBeNull();
      if (one.changes.length > 0) found[`${one.topic} ${one.requestId}`] = one.changes;
    }
    return found;
  }

  it('is reconsidered under another configuration: what would be offered, and what would become of the call', async () => {
    expect(await under((same) => same)).toEqual({});
    const found = await under((one) => ({
      ...one,
      tools: one.tools.map((tool) => (tool.key === 'notes' ? { ...tool, states: ['*'] } : tool)),
      policy: { ...one.policy, allowedTools: one.policy.allowedTools.filter((id) => !id.endsWith('clock')) },
    }));
    expect(found['agent.steps made']).toEqual([
      { kind: 'tools', gained: ['notes'], lost: ['clock'], altered: [] },
      { kind: 'call', tool: 'clock', index: 0, was: 'made', would: 'refused: not_allowed' },
    ]);
    expect(found['agent.steps state']).toContainEqual(
      expect.objectContaining({ tool: 'notes', was: 'refused: not_eligible_state', would: 'made' }),
    );
    const free = await under((one) => ({ ...one, policy: { ...one.policy, approvalEffects: [] } }));
    expect(free['agent.steps waits-approve']).toContainEqual(
      expect.objectContaining({ was: 'waits for an approval', would: 'made' }),
    );
  });
});
