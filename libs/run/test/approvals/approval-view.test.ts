import { describe, expect, it } from '@jest/globals';
import type { Configuration, ConfiguredTool } from '@sluice/core';
import { make } from '@sluice/contracts';
import { approvalView } from '@sluice/run';

const secret = { type: 'object', properties: { token: { type: 'string', writeOnly: true } } };
const tools = [
  { id: 'core__login', key: 'login', description: 'Logs in.', spec: { inputSchema: secret, effect: 'state_change' } },
  { id: 'core__now', key: 'now', description: 'Tells the time.', spec: { inputSchema: {}, effect: 'read_only' } },
] as unknown as readonly ConfiguredTool[];
const judge = (approvalEffects: readonly string[], known = tools) =>
  ({ tools: known, policy: { approvalEffects } }) as unknown as Configuration;
const step = (action: string, written: string, observation: string) =>
  make.agentStep({ action, arguments: written, observation, iteration: 1 });
const requested = make.approvalRequested({
  ...{ approvalId: 'a-1', requestId: 'r', sessionId: 's', tool: 'core__login', argumentsHash: 'h', topic: 't' },
  ...{ partition: 0, offset: 0, expiresAt: 9, arguments: '{"token":"[redacted]","n":12345678901234567890}' },
  steps: [step('login', '{"token":"s3cret"}', '"in"')],
});
const turn = { request: make.agentRequest({ question: 'Log in', history: [step('now', '{}', '"noon"')] }) };
const all = () => Promise.resolve(true);

describe('what who decides sees of a call', () => {
  it('is the question, the tool, the arguments laid out, and the steps of the run and of the turn before', async () => {
    const view = await approvalView(requested, turn, [judge(['state_change'])], all);
    expect(view).toMatchObject({
      question: 'Log in',
      tool: { key: 'login', description: 'Logs in.', inputSchema: expect.any(Object) },
      rule: { rule: 'effect', message: expect.stringContaining('state_change') },
    });
    expect(JSON.stringify(view.arguments)).toBe('{"token":"[redacted]","n":12345678901234567890}');
    expect(view.stepsBefore.map(({ tool, result }) => [tool, result])).toEqual([
      ['now', '"noon"'],
      ['login', '"in"'],
    ]);
  });

  it('has no secret of a step before, whichever configuration calls it one', async () => {
    const former = tools.map((tool) => ({ ...tool, spec: { ...tool.spec, inputSchema: {} } })) as typeof tools;
    for (const judges of [
      [judge([]), judge([], former)],
      [judge([], former), judge([])],
    ])
      expect(JSON.stringify(await approvalView(requested, turn, judges, all))).not.toContain('s3cret');
  });

  it('has no arguments and no results of tools that the reader may not call', async () => {
    const mayRead = (tool: ConfiguredTool | undefined) => Promise.resolve(tool?.key === 'now');
    const { stepsBefore } = await approvalView(requested, turn, [judge([])], mayRead);
    expect(stepsBefore.map((one) => [one.tool, one.outcome, one.arguments, one.result])).toEqual([
      ['now', 'ok', '{}', '"noon"'],
      ['login', 'ok', null, null],
    ]);
  });

  it('is less where the turn and the configuration of then are gone', async () => {
    const view = await approvalView(requested, null, [judge([], [])], all);
    expect(view).toMatchObject({ question: null, tool: { key: 'core__login', description: null }, rule: null });
  });

  it('has the beginning of a long result', async () => {
    const long = { request: make.agentRequest({ question: 'Q', history: [step('now', '{}', 'x'.repeat(5_000))] }) };
    const { stepsBefore } = await approvalView({ ...requested, steps: [] }, long, [judge([])], all);
    expect(stepsBefore[0]?.result).toHaveLength(1_000);
  });
});
