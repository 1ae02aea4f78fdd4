import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ToolCall } from '@sluice/contracts';
import { calls, ids, workflowConfiguration } from './harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';
import { eventually } from './harness/eventually.js';
import { replayed } from './replay/replaying.js';

const update = calls.update;

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

/** All services under the sample with more policy, and a way to play turns in a run of its own. */
async function playing(policy: {
  readonly budgets?: string;
  readonly authorization?: string;
  readonly ofServer?: string;
}) {
  const { budgets, authorization = '', ofServer = '' } = policy;
  const written = workflowConfiguration({ limits: authorization }).replace(
    'timeout_seconds: 5 }',
    `timeout_seconds: 5${ofServer} }`,
  );
  const configuration =
    budgets === undefined ? written : written.replace(/^policy:$/m, `policy:\n  budgets: ${budgets}`);
  const model = new ScriptedModel(inOrder());
  const opened = (system = await startSystem(configuration, model));
  const play = async (...turns: Said[]) => {
    model.script = inOrder(...turns);
    model.asked.length = 0;
    return (await opened.ask({ group: ['*'], state: 'analysis' })).history.map(
      ({ action, outcome, reason, observation }) => ({
        action,
        outcome,
        reason,
        observation,
      }),
    );
  };
  return { play, model, opened };
}

describe('budgets of a run (T-19b, C-08)', () => {
  it('end for a tool in the middle of a turn; from then on it is hidden, with its reason, and refused', async () => {
    const { play, model, opened } = await playing({ budgets: '{ tools: { graph-update: { calls_per_run: 2 } } }' });
    const bad = [ids.update, '{"add": 7}'] as const;
    const steps = await play({ calls: [bad, update] }, { calls: [update, update] }, { calls: [update] });
    expect(steps.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['validation', null],
      ['ok', null],
      ['ok', null],
      ['policy_denied', 'budget_used'],
      ['policy_denied', 'budget_used'],
    ]);
    expect(steps[4]?.observation).toMatch(/made all the calls it has in this run/);
    expect(model.asked.map(({ tools }) => tools.some((tool) => tool.id === ids.update))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const toolsets = await opened.all('agent.toolsets');
    // The last turn has the list of the one before, which names it.
    const naming = toolsets.at(-1)?.record.list?.since;
    expect(naming).toBe(toolsets.length - 1);
    expect(toolsets[toolsets.length - 2]?.record.hidden).toContainEqual({ key: 'graph-update', reasons: ['budget'] });
    expect(toolsets.at(-1)?.record.run.toolCalls).toEqual({ [ids.update]: 2 });
    // Another run has calls of its own.
    expect(await play({ calls: [update] })).toMatchObject([{ outcome: 'ok' }]);
  });

  it('end for all tools together', async () => {
    const { play, model } = await playing({ budgets: '{ calls_per_run: 2 }' });
    const steps = await play({ calls: [update, calls.analysis, calls.reset] });
    expect(steps.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['ok', null],
      ['ok', null],
      ['policy_denied', 'budget_used'],
    ]);
    expect(model.asked.at(-1)?.tools).toEqual([]);
  });

  it('lower the limits of a call, its time and its result (L-05, L-06, X-16)', async () => {
    const { play, model } = await playing({
      budgets: '{ tools: { graph-update: { result_bytes: 5 }, text-completion: { timeout_seconds: 1 } } }',
    });
    const turn = model.turn.bind(model);
    model.turn = (request) => (request.question === 'Never answer' ? new Promise(() => undefined) : turn(request));
    const [late] = await play({ calls: [[ids.text, '{"prompt":"Never answer"}']] });
    expect(late).toMatchObject({ outcome: 'execution', reason: 'timeout' });
    expect(late?.observation).toMatch(/within 1 s/);
    const [step] = await play({ calls: [update] });
    expect(step).toMatchObject({ outcome: 'execution', reason: 'result_too_large' });
    expect(step?.observation).toMatch(/the limit of 5 bytes\. The call took effect/);
  });
});

describe('calls per minute (M-81, XB-32)', () => {
  it('of a tenant are refused beyond the limit, in any run, and leave no claim', async () => {
    const { play, opened } = await playing({ budgets: "{ tools: { '*': { calls_per_minute: 2 } } }" });
    const unavailable = { outcome: 'unavailable', reason: 'rate_limited' };
    expect(await play({ calls: [update, update, update] })).toMatchObject([
      { outcome: 'ok' },
      { outcome: 'ok' },
      unavailable,
    ]);
    const [step] = await play({ calls: [update, calls.analysis] });
    expect(step).toMatchObject(unavailable);
    expect(step?.observation).toMatch(/2 times a minute.*Try again in \d+ s/);
    const refused = (await opened.all('agent.tool-calls')).at(-1)?.record as ToolCall;
    const hash = createHash('sha256').update(update[1]).digest('hex').slice(0, 32);
    const callKey = (requestId: string): string => `effect/${requestId}/1/0/${ids.update}/${hash}`;
    const { ledger } = opened.embedded.runtime;
    expect(await ledger.find(callKey(refused.requestId))).toBeUndefined();
    const ran = (await opened.all('agent.tool-calls'))[0]?.record as ToolCall;
    expect(await ledger.find(callKey(ran.requestId))).toMatchObject({ value: expect.any(String) });
    // A minute is shared with whoever asks next, also after a restart: it stands in the ledger, not in the process.
    system = await opened.restart();
    const again = await system.ask({ group: ['*'], state: 'analysis' });
    expect(again.history[0]).toMatchObject(unavailable);
  });
});

describe('calls per minute of an MCP server (XB-32)', () => {
  it('are those of all its tools together: beyond the limit a call is refused, and says when to try again', async () => {
    const { play } = await playing({ ofServer: ', calls_per_minute: 1' });
    expect(await play({ calls: [calls.analysis] })).toMatchObject([{ outcome: 'ok' }]);
    const [refused, other] = await play({ calls: [calls.analysis, update] });
    expect(refused).toMatchObject({ outcome: 'unavailable', reason: 'rate_limited' });
    expect(other).toMatchObject({ outcome: 'ok' });
    expect(refused?.observation).toMatch(/server analysis together may be called 1 times a minute.*Try again in \d+ s/);
  });
});

describe('authorization (T-F1a, T-F1c, E-03, X-4)', () => {
  const rules = (permissions: string): string => `authorization: { permissions: [${permissions}] }`;

  it('refuses what no permission names, and runs what one does', async () => {
    const { play, opened } = await playing({
      authorization: rules('{ principals: [user:local], tenants: [local], tools: [complex-analysis] }'),
    });
    expect(await play({ calls: [update, calls.analysis] })).toMatchObject([
      { outcome: 'authz_denied', reason: 'not_permitted' },
      { outcome: 'ok' },
    ]);
    const started = (await opened.all('agent.progress')).filter(({ record }) => record.kind === 'tool_call_start');
    expect(started.map(({ record }) => record.tool)).toEqual(['complex-analysis']);
    expect(await opened.lines()).toContainEqual(expect.objectContaining({ authorizer: 'rules' }));
  });

  it('denies everything where nothing is written, for every tool there is (T-F1c)', async () => {
    const { play } = await playing({ authorization: rules('') });
    const steps = await play({ calls: [update, calls.analysis, calls.reset, [ids.text, '{"prompt":"x"}']] });
    expect(new Set(steps.map(({ outcome }) => outcome))).toEqual(new Set(['authz_denied']));
  });

  it('is also that of the configuration in force where that is narrower than the one that granted the turn', async () => {
    const { model, opened } = await playing({});
    const current = () => opened.embedded.runtime.configurations.current().configuration;
    const granted = current().version;
    const narrower = workflowConfiguration({
      limits: rules('{ principals: [user:local], tenants: [local], tools: [complex-analysis] }'),
    });
    const turns = inOrder({ calls: [update, calls.analysis] });
    // The turn is granted when the model is asked; the executor judges it after the change.
    model.script = async (request) => {
      if (request.history.length === 0) {
        writeFileSync(opened.configFile, narrower);
        await eventually(current, ({ version }) => version !== granted);
      }
      return turns(request);
    };
    const { history, configVersion } = await opened.ask({ group: ['*'], state: 'analysis' });
    expect(history).toMatchObject([{ outcome: 'authz_denied', reason: 'not_permitted' }, { outcome: 'ok' }]);
    expect(configVersion).not.toBe(granted);
  });

  it('is said at the start to be missing, where none is configured', async () => {
    const { play, opened } = await playing({});
    expect(await play({ calls: [update] })).toMatchObject([{ outcome: 'ok' }]);
    const said = (await opened.lines()).filter((line) => line['authorizer'] !== undefined);
    expect(said).toMatchObject([{ authorizer: 'allow-all' }]);
  });
});

describe('authorization by Cedar (K-61, X-4)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cedar-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const cedar = (policies: string): string => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'policies.cedar');
    writeFileSync(file, policies);
    return `authorization: { cedar: { policies: "${file}", schema: examples/authorization/sluice.cedarschema } }`;
  };

  it('decides by arguments with their defaults, a list without any, and a denied call says so', async () => {
    mkdirSync(folder, { recursive: true });
    const schema = join(folder, 'arguments.cedarschema');
    const declared = readFileSync('examples/authorization/sluice.cedarschema', 'utf8').replace(
      'type Asked = { tenant: String, effect: String };',
      `type Asked = { tenant: String, effect: String,
        arguments?: { add?: Set<{ subject: String, object: String }>, limit?: Long } };`,
    );
    writeFileSync(schema, declared);
    const policies = `
      permit (principal == User::"local", action == Action::"tool.execute", resource);
      forbid (principal, action == Action::"tool.execute", resource == Tool::"${ids.update}")
      when { context has arguments && context.arguments has add &&
        context.arguments.add.contains({ subject: "Sluice", object: "tested" }) };`;
    const { play, model, opened } = await playing({
      authorization: cedar(policies).replace('examples/authorization/sluice.cedarschema', `"${schema}"`),
    });
    const adding = (object: unknown) =>
      [ids.update, JSON.stringify({ add: [{ subject: 'Sluice', predicate: 'is', object }] })] as const;
    const steps = await play({ calls: [update, adding('open'), adding(7), calls.analysis] });
    expect(steps.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['authz_denied', 'not_permitted'],
      ['ok', null],
      ['authz_denied', 'not_permitted'],
      ['ok', null],
    ]);
    expect(steps[0]?.observation).toContain(`use the tool ${ids.update} with these arguments. Change them`);
    expect(steps[2]?.observation).toContain('with this value of its argument “add”. Change it');
    expect(model.asked[0]?.tools.map(({ id }) => id)).toContain(ids.update);
    expect(opened.embedded.runtime.configurations.current().configuration.authorization).not.toHaveProperty('claims');
    const again = (await replayed(opened.bus, null)).map(({ outcome }) => outcome.kind);
    expect(new Set(again)).toEqual(new Set(['equal']));
  });

  it('decides by effect; then, where a policy fails, refuses as unavailable and says why in the log', async () => {
    const policies = `
      permit (principal == User::"local", action == Action::"tool.execute", resource) when { context.effect == "read_only" };
      forbid (principal, action, resource == Tool::"${ids.reset}") when { 9223372036854775807 + 1 == 0 };`;
    const { play, opened } = await playing({ authorization: cedar(policies) });
    expect(await play({ calls: [update, calls.reset, calls.analysis] })).toMatchObject([
      { outcome: 'authz_denied', reason: 'not_permitted' },
      { outcome: 'unavailable', reason: 'authorizer_unreachable' },
      { outcome: 'ok' },
    ]);
    const lines = await opened.lines();
    expect(lines).toContainEqual(
      expect.objectContaining({ tool: ids.reset, error: expect.stringMatching(/overflow/) }),
    );
  });
});
