import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readKeySet } from '@sluice/identity';
import { until } from './audit/auditing.js';
import { asked, decide } from './harness/approving.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const configuration = `
tool:
  now: { type: get_current_time }
  add_todo: { type: add_todo }
  # By another name than its type, in a state of its own, and leading to another.
  finish: { type: mark_complete, available_in_states: [begun, undefined], state: finished }
policy: { allowed_tools: ['*'] }
`;
const approving = configuration.replace(
  "'*'] }",
  "'*'], approval: { effects: [state_change], approvers: ['user:ann'] } }",
);

const finish = (summary: string): readonly [string, string] => ['core__finish', JSON.stringify({ summary })];
const now = ['core__now', '{}'] as const;
const todo = ['core__add_todo', '{"task":"Go on"}'] as const;

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(turns: readonly Said[], yaml = configuration) {
  const model = new ScriptedModel(inOrder(...turns));
  const opened = (system = await startSystem(yaml, model));
  return { model, opened };
}

/** Whatever the filter and the executor decided comes out the same once more. */
async function expectReplayed(opened: TestSystem): Promise<void> {
  const keys = readKeySet(readFileSync(join(opened.folder, 'keys.json'), 'utf8'), 'keys.json');
  const decisions = await replayed(opened.bus, keys);
  expect(decisions.map(({ kind }) => kind)).toContain('end');
  expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
}

describe('mark_complete (D-T40, XB-45)', () => {
  it('ends the run with its summary as the one answer: no model is asked again, what the turn calls after it is refused', async () => {
    const { model, opened } = await running([
      { calls: [now] },
      { calls: [now, finish('All three are done.'), todo, finish('Again.')] },
    ]);
    const response = await opened.ask({ requestId: 'r' });
    expect(response).toMatchObject({
      kind: 'answer',
      answer: 'All three are done.',
      error: null,
      state: 'finished',
      iterations: 2,
      run: { answer: 'All three are done.', toolCalls: { core__now: 2, core__finish: 1 } },
    });
    expect(response.history.map(({ action, outcome, reason }) => [action, outcome, reason])).toEqual([
      ['now', 'ok', null],
      ['now', 'ok', null],
      ['finish', 'ok', null],
      ['add_todo', 'policy_denied', 'run_completed'],
      ['finish', 'policy_denied', 'run_completed'],
    ]);
    expect(response.history[3]?.observation).toBe(
      'The run was ended by a call before this one, so this call was not made.',
    );
    expect(model.asked).toHaveLength(2);
    expect(await opened.all('agent.responses')).toHaveLength(1);
    expect(await opened.all('agent.toolsets')).toHaveLength(2);
    await expectReplayed(opened);

    const entries = await until(
      'the audit’s entry of the end',
      async () => (await opened.all('agent.audit')).map(({ record }) => record),
      (told) => told.some(({ kind }) => kind === 'run_ended'),
    );
    const ends = entries.filter(({ kind }) => kind === 'run_ended');
    expect(ends.map(({ details }) => JSON.parse(details) as object)).toMatchObject([
      { outcome: 'answer', answer: 'All three are done.', iterations: 2 },
    ]);
  });

  it('ends nothing where it fails: bad arguments, or a state in which it is not there', async () => {
    const { model, opened } = await running([{ calls: [['core__finish', '{}'], now] }, { calls: [finish(' ')] }]);
    expect(await opened.ask({})).toMatchObject({
      answer: 'done',
      history: [{ outcome: 'validation' }, { outcome: 'ok' }, { outcome: 'execution' }],
      run: { answer: null },
    });
    expect(model.asked).toHaveLength(3);
    model.script = inOrder({ calls: [finish('Done.')] });
    const elsewhere = await opened.ask({ state: 'finished' });
    expect(elsewhere).toMatchObject({ answer: 'done', history: [{ reason: 'not_eligible_state' }] });
  });

  it('ends a run whose last iteration it is, with its answer and no error', async () => {
    const { opened } = await running([{ calls: [finish('In time.')] }]);
    expect(await opened.ask({ maxIterations: 1 })).toMatchObject({ kind: 'answer', answer: 'In time.' });
  });

  it('asks no approver for what comes after it, and ends a turn that had waited before it', async () => {
    const { opened } = await running([{ calls: [finish('No need.'), todo] }], approving);
    expect(await opened.ask({})).toMatchObject({
      answer: 'No need.',
      history: [{ outcome: 'ok' }, { reason: 'run_completed' }],
    });
    expect(await opened.all('agent.approvals')).toEqual([]);

    await opened.close();
    const later = await running([{ calls: [todo, finish('Written down.'), todo] }], approving);
    const end = later.opened.ask({});
    await decide(later.opened, await asked(later.opened), 'approve');
    expect(await end).toMatchObject({
      answer: 'Written down.',
      history: [{ outcome: 'ok' }, { outcome: 'ok' }, { reason: 'run_completed' }],
    });
    await expectReplayed(later.opened);
  });
});
