import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import { unverified } from '@sluice/identity';
import type { Configuration } from '@sluice/core';
import { readKeySet } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import { run as askCommand } from '../apps/sluice/src/commands/ask.js';
import { run as deadLetters } from '../apps/sluice/src/commands/dead-letters.js';
import { inProcess } from './harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';
import { authorizerOf, changed, replayed, undecodable } from './replay/replaying.js';
import { eventually, latest, smuggle, toolCallOf } from './security/forging.js';

/** Two tools that a request is offered, and one that it is not. */
const configuration = `
tool:
  now: { type: get_current_time }
  add_todo: { type: add_todo }
  hidden: { type: get_progress, group: [admin] }
policy: { allowed_tools: ['*'] }
`;
const now = ['core__now', '{}'] as const;
const todo = ['core__add_todo', '{"task":"Go on"}'] as const;

const model = new ScriptedModel(inOrder());
let system: TestSystem;
let count = 0;

/** A run of its own, and what the model was asked to choose in each turn. */
async function play(toolChoice: string | null, turns: readonly Said[], more: { readonly group?: string[] } = {}) {
  model.script = inOrder(...turns);
  model.asked.length = 0;
  const requestId = `choice-${count++}`;
  const response = await system.ask({ requestId, toolChoice, ...more });
  return { requestId, response, choices: model.asked.map((asked) => asked.toolChoice) };
}

const outcomes = ({ history }: { history: readonly { action: string; outcome: string; reason: string | null }[] }) =>
  history.map(({ action, outcome, reason }) => [action, outcome, reason]);

async function expectReplayed(): Promise<void> {
  const keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
  const decisions = await replayed(system.bus, keys);
  expect(decisions.length).toBeGreaterThan(0);
  expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
}

describe('a request that chooses for the model (K-07)', () => {
  beforeAll(async () => void (system = await startSystem(configuration, model)));
  afterAll(() => system.close());
  afterEach(expectReplayed);

  const auto = { type: 'auto' };

  it.each([null, '', 'auto'])('leaves it the choice with %j, and its records say nothing of it', async (asked) => {
    const { choices, response, requestId } = await play(asked, [{ calls: [now] }]);
    expect(choices).toEqual([auto, auto]);
    expect(response).toMatchObject({ kind: 'answer', iterations: 2 });
    expect((await latest(system, 'agent.toolsets', requestId)).record.toolChoice).toBeNull();
  });

  it.each([
    ['required', { type: 'required' }, 'required'],
    ['now', { type: 'tool', id: 'core__now' }, 'core__now'],
    ['core__now', { type: 'tool', id: 'core__now' }, 'core__now'],
  ])('with %s asks for a call in the first turn, and for none after it', async (asked, first, recorded) => {
    const { choices, response, requestId } = await play(asked, [{ calls: [now] }, { calls: [todo] }]);
    expect(choices).toEqual([first, auto, auto]);
    expect(response).toMatchObject({ kind: 'answer', answer: 'done', history: [{ outcome: 'ok' }, { outcome: 'ok' }] });
    const toolsets = (await system.all('agent.toolsets')).filter(({ record }) => record.requestId === requestId);
    expect(toolsets.map(({ record }) => record.toolChoice)).toEqual([recorded, null, null]);
  });

  it('with none shows the tools and refuses every call, in every turn, unknown ones as well; then the model answers', async () => {
    const { choices, response } = await play('none', [{ calls: [now, todo] }, { calls: [['core__made_up', '{}']] }]);
    const none = { type: 'none' };
    expect(choices).toEqual([none, none, none]);
    expect(model.asked.map(({ tools }) => tools.length)).toEqual([2, 2, 2]);
    expect(response).toMatchObject({ kind: 'answer', answer: 'done', run: { toolCalls: {} } });
    expect(outcomes(response)).toEqual([
      ['now', 'policy_denied', 'none_chosen'],
      ['add_todo', 'policy_denied', 'none_chosen'],
      ['core__made_up', 'policy_denied', 'none_chosen'],
    ]);
    expect(response.history[0]?.observation).toMatch(/tool_choice is none/);
  });

  it('with a tool leaves it the others beside it', async () => {
    const { response } = await play('now', [{ calls: [todo, now] }]);
    expect(outcomes(response).map(([action, outcome]) => [action, outcome])).toEqual([
      ['add_todo', 'ok'],
      ['now', 'ok'],
    ]);
  });

  it('and names a tool that it is not offered is refused before any turn, in the same words whether there is such a tool or not', async () => {
    const refusals = [];
    for (const name of ['hidden', 'core__hidden', 'unheard_of']) {
      const { response, choices } = await play(name, []);
      expect(choices).toEqual([]);
      expect(response).toMatchObject({ kind: 'error', error: { code: 'invalid_request' }, iterations: 0, history: [] });
      refusals.push(response.error?.message.replace(name, 'X'));
    }
    expect(refusals[0]).toMatch(/^tool_choice names `X`.*Offered are: core__now, core__add_todo\.$/);
    expect(new Set(refusals).size).toBe(1);
    expect(await play('hidden', [{ calls: [['core__hidden', '{}']] }], { group: ['admin'] })).toMatchObject({
      response: { kind: 'answer', history: [{ outcome: 'ok' }] },
    });
  });

  it('and wants a tool where there is none is refused', async () => {
    const { response } = await play('required', [], { group: [] });
    expect(response.error).toEqual({ code: 'invalid_request', message: expect.stringMatching(/is offered no tool/) });
  });

  it('explains each refusal of its kind: one that is recorded in a run without such a choice is a difference', async () => {
    const { requestId } = await play('required', [{ calls: [now] }]);
    const forged = changed(system.bus, (message) => {
      if (message.topic !== 'agent.steps' || message.record.requestId !== requestId) return message;
      const steps = message.record.steps.map((step) => ({ ...step, outcome: 'policy_denied', reason: 'none_chosen' }));
      return { ...message, record: { ...message.record, steps } };
    });
    const [found] = (await replayed(forged, null)).filter((one) => one.requestId === requestId && one.kind === 'steps');
    const paths = found?.outcome.kind === 'different' ? found.outcome.differences.map(({ path }) => path) : [];
    expect(paths).toContain('steps.0.outcome');
  });

  it('has its choice recorded by the audit', async () => {
    const { requestId } = await play('now', [{ calls: [now] }]);
    const told = await eventually(async () => {
      const entries = (await system.all('agent.audit')).map(({ record }) => record);
      const own = entries.filter((entry) => entry.requestId === requestId && entry.kind === 'tools_granted');
      return own.length === 2 ? own.map(({ details }) => JSON.parse(details) as { tool_choice?: string }) : undefined;
    });
    expect(told.map((details) => details.tool_choice)).toEqual(['core__now', undefined]);
  });

  it.each([
    ['answers', 'required', { answer: 'I know.' }, /did not call a tool, as/],
    ['answers', 'now', { answer: 'I know.' }, /did not call the tool core__now, as/],
    ['calls another', 'now', { calls: [todo] }, /did not call the tool core__now, as/],
  ] as const)(
    'ends with a clear error where the model %s under %s, and nothing is run or recorded',
    async (_, asked, said, why) => {
      const { response, requestId } = await play(asked, [said]);
      expect(response).toMatchObject({ kind: 'error', answer: null, history: [] });
      expect(response.error).toEqual({ code: 'model_failed', message: expect.stringMatching(why) });
      const calls = (await system.all('agent.tool-calls')).filter(({ record }) => record.requestId === requestId);
      expect(calls).toEqual([]);
    },
  );
});

describe('sluice ask --tool-choice (K-07)', () => {
  beforeAll(async () => void (system = await startSystem(configuration, model)));
  afterAll(() => system.close());
  const ask = (choice: string) =>
    inProcess(askCommand, system.embedded.runtime.environment, 'Go', '--tool-choice', choice);

  it('sends the choice along, and shows what it comes to', async () => {
    model.script = inOrder({ calls: [now] });
    const { code, output } = await ask('now');
    expect(code).toBe(0);
    expect(output.match(/choice .*/g)).toEqual([expect.stringContaining('core__now must be called')]);
    expect((await ask('none')).output.match(/choice .*/g)).toContainEqual(expect.stringContaining('no tool is to be'));
    expect((await ask('auto')).output).not.toMatch(/choice/);
  });

  it('ends with 1 where it is refused, and says why', async () => {
    const { code, output } = await ask('hidden');
    expect([code, output]).toEqual([1, expect.stringContaining('tool_choice names `hidden`')]);
  });
});

describe('a choice that was taken out of a turn (K-07)', () => {
  beforeAll(async () => void (system = await startSystem(configuration, model)));
  afterAll(() => system.close());

  it.each(['with its request’s', 'alone'])('%s, gives no right to call: the grant is for another turn', async (how) => {
    const requestId = `forged-${count++}`;
    let code = '';
    model.script = async () => {
      const { record } = await latest(system, 'agent.toolsets', requestId);
      const request = how === 'alone' ? record.request : { ...record.request, toolChoice: null };
      const forged = toolCallOf({ ...record, request, toolChoice: null });
      code = (await smuggle(system, 'agent.tool-calls', forged)).code;
      return { answer: 'done' };
    };
    expect(await system.ask({ requestId, toolChoice: 'none' })).toMatchObject({ kind: 'answer', history: [] });
    expect(code).toBe('grant_invalid');
  });
});

describe('a tool_choice that is no text (K-07)', () => {
  beforeAll(async () => void (system = await startSystem(configuration, model)));
  afterAll(() => system.close());

  it.each([
    ['the number 7', '7'],
    ['object', '{"type":"auto"}'],
  ])('makes an invalid request: %s', async (what, value) => {
    const json = `{"request_id":"${what}","question":"q","tool_choice":${value}}`;
    await system.bus.appendRaw('agent.requests', 'k', Buffer.from(json));
    expect((await system.responseOf(what)).error).toEqual({
      code: 'invalid_request',
      message: expect.stringContaining(`$.tool_choice must be a text, but is ${what}.`),
    });
  });
});

describe('a choice under another configuration (K-07)', () => {
  beforeEach(async () => void (system = await startSystem(configuration, model)));
  afterEach(() => system.close());
  const without = configuration.replace("['*']", '[add_todo]');

  it('is decided again where its turn is re-driven: a tool that is not offered any more ends the run', async () => {
    const { requestId, response } = await play('now', [{ answer: 'I know.' }]);
    expect(response.error?.code).toBe('model_failed');
    await writeFile(system.configFile, without);
    system = await system.restart();
    const [letter] = await system.all('agent.dead-letters');
    const args = ['redrive', `${letter?.partition}/${letter?.offset}`];
    expect(await inProcess(deadLetters, system.embedded.runtime.environment, ...args)).toMatchObject({ code: 0 });
    const ends = await eventually(async () => {
      const found = (await system.all('agent.responses')).filter(({ record }) => record.requestId === requestId);
      return found.length === 2 ? found : undefined;
    });
    expect(ends[1]?.record.error).toEqual({
      code: 'invalid_request',
      message: expect.stringMatching(/^tool_choice names `now`.*Offered are: core__add_todo\.$/),
    });
    await expectReplayed();
  });

  it('is shown by a what-if: runs that would not begin, and such that would', async () => {
    await play('now', [{ calls: [now] }]);
    await play('hidden', []);
    const changes = async (candidate: Configuration) => {
      const found = [];
      const options = {
        selection: everything,
        authorizerOf,
        verifier: unverified,
        signal: new AbortController().signal,
      };
      const reading = { ...options, onUndecodable: undecodable, candidate: compileEvaluator(candidate) };
      for await (const one of whatIf(system.bus, reading)) found.push(...one.changes);
      return found.filter(({ kind }) => kind === 'run');
    };
    const { configuration: inForce } = system.embedded.runtime.configurations.current();
    expect(await changes(inForce)).toEqual([]);
    const fewer = { ...inForce, policy: { ...inForce.policy, allowedTools: ['core__add_todo', 'core__hidden'] } };
    expect(await changes(fewer)).toEqual([{ kind: 'run', was: 'goes on', would: 'invalid_request' }]);
    const open = { ...inForce, tools: inForce.tools.map((tool) => ({ ...tool, groups: ['default'] })) };
    expect(await changes(open)).toEqual([{ kind: 'run', was: 'invalid_request', would: 'goes on' }]);
  });
});
