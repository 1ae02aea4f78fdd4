import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, ids, workflowConfiguration } from './harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';

const flow: Said[] = [{ calls: [calls.query] }, { calls: [calls.analysis] }, { calls: [calls.reset] }];

describe('the workflow of §5.2 and §9.3 through the running services', () => {
  const model = new ScriptedModel(inOrder(...flow));
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), model);
  });
  afterAll(() => system.close());

  const offeredIn = async (requestId: string): Promise<string[][]> =>
    (await system.all('agent.toolsets'))
      .filter(({ record }) => record.requestId === requestId)
      .map(({ record }) => record.tools.map((tool) => tool.key));

  it('runs knowledge-query, complex-analysis, reset-workflow in one request, each step with its own tools (G-85, G-142, G-145, G-153, G-155, K-05, K-11, K-52, S-08, M-02)', async () => {
    model.asked.length = 0;
    const response = await system.ask({ requestId: 'flow', group: ['knowledge', 'compute', 'admin'] });
    expect(response).toMatchObject({ kind: 'answer', answer: 'done', state: 'undefined', iterations: 4 });
    expect(await offeredIn('flow')).toEqual([
      ['knowledge-query'],
      ['graph-update', 'complex-analysis', 'reset-workflow'],
      ['reset-workflow'],
      ['knowledge-query'],
    ]);
    expect(
      response.history.map(({ action, outcome, stateBefore, state }) => [action, outcome, stateBefore, state]),
    ).toEqual([
      ['knowledge-query', 'ok', 'undefined', 'analysis'],
      ['complex-analysis', 'ok', 'analysis', 'results'],
      ['reset-workflow', 'ok', 'results', 'undefined'],
    ]);
    // What the run made and how long it took: the record of it as a whole (K-52).
    expect(response.run?.toolCalls).toEqual({ [ids.query]: 1, [ids.analysis]: 1, [ids.reset]: 1 });
    const latencies = response.history.map(({ startedAt, endedAt }) => endedAt - startedAt);
    expect(latencies.every((ms) => ms >= 0)).toBe(true);
    const whole = response.endedAt - (response.run?.startedAt ?? 0);
    expect(latencies.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(whole);
    expect(whole).toBeGreaterThan(0);
    const stamps = response.run?.stateTransitions.map((transition) => transition.timestamp) ?? [];
    expect(stamps).toHaveLength(3);
    expect([...stamps].sort()).toEqual(stamps);
  });

  it('shows the model exactly the offered tools, by id, with the history so far (G-05, G-54, G-141, G-64, G-66, T-18a, T-18b, T-18c, C-10)', async () => {
    model.asked.length = 0;
    await system.ask({ group: ['read-only', 'advanced', 'admin'] });
    expect(model.asked.map((request) => request.tools.map((tool) => tool.id))).toEqual([
      [ids.query, ids.text],
      [ids.update, ids.text, ids.analysis, ids.reset],
      [ids.text, ids.reset],
      [ids.query, ids.text],
    ]);
    expect(model.asked.map((request) => request.history.map((step) => step.toolId))).toEqual([
      [],
      [ids.query],
      [ids.query, ids.analysis],
      [ids.query, ids.analysis, ids.reset],
    ]);
  });

  it('keeps the groups through the run and re-emits the request with the new state (G-43, G-143, G-56, G-65)', async () => {
    await system.ask({ requestId: 'groups', group: ['*'] });
    const steps = (await system.all('agent.steps')).filter(({ record }) => record.requestId === 'groups');
    expect(steps.map(({ record }) => [record.next.group, record.next.state, record.next.history.length])).toEqual([
      [['*'], 'analysis', 1],
      [['*'], 'results', 2],
      [['*'], 'undefined', 3],
    ]);
  });

  it('ends with an answer where a state leaves no tool (G-154, XG-4, XG-21)', async () => {
    const response = await system.ask({ requestId: 'no-tool-left', group: ['knowledge', 'compute'] });
    expect((await offeredIn('no-tool-left'))[2]).toEqual([]);
    const refused = response.history.at(-1);
    expect(refused).toMatchObject({ action: 'reset-workflow', outcome: 'policy_denied', state: 'results' });
    expect(response).toMatchObject({ kind: 'answer', state: 'results' });
  });

  it('answers by itself where the groups are empty, unlike absent ones (G-37, G-53, XG-8)', async () => {
    const before = model.script;
    model.script = ({ tools }) => ({ answer: `${tools.length} tools` });
    try {
      expect(await system.ask({ group: [] })).toMatchObject({ kind: 'answer', answer: '0 tools' });
    } finally {
      model.script = before;
    }
  });

  it('writes one log line a request with exactly the eight keys, in the envelope that every line of a run has (G-128, G-130)', async () => {
    await system.ask({ requestId: 'logged', group: ['read-only', 'knowledge'] });
    const lines = (await system.lines()).filter((line) => line['request_id'] === 'logged' && 'execution_time' in line);
    expect(lines).toHaveLength(1);
    const { level, time, session_id: session, ...record } = lines[0] as Record<string, unknown>;
    expect([level, typeof time, session]).toEqual([30, 'string', 'logged']);
    expect(record).toEqual({
      request_id: 'logged',
      requested_groups: ['read-only', 'knowledge'],
      initial_state: 'undefined',
      state_transitions: [
        {
          tool: 'knowledge-query',
          from: 'undefined',
          to: 'analysis',
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        },
      ],
      available_tools: ['knowledge-query', 'text-completion'],
      filtered_by_group: ['complex-analysis', 'reset-workflow'],
      filtered_by_state: ['graph-update'],
      execution_time: expect.stringMatching(/^\d+\.\ds$/),
    });
  });

  it('counts what happened in the nine metrics (G-108 to G-118, G-160, XG-25, XG-33)', async () => {
    const read = async () => ({
      requests: await system.metric('agent_tool_group_requests_total', { group: 'knowledge' }),
      other: await system.metric('agent_tool_group_requests_total', { group: 'other' }),
      filterings: await system.metric('agent_filtered_tools_count_count'),
      transitions: await system.metric('agent_state_transitions_total', { tool: 'knowledge-query' }),
      analysis: await system.metric('agent_workflow_duration_seconds_count', { state: 'analysis' }),
      undefineds: await system.metric('agent_workflow_duration_seconds_count', { state: 'undefined' }),
      invalid: await system.metric('agent_invalid_state_transition_total'),
    });
    const before = await read();
    await system.ask({ group: ['knowledge', 'compute', 'admin', 'nobody-has-this', 'nor-this'] });
    const after = await read();
    expect(
      Object.fromEntries(
        Object.entries(after).map(([name, value]) => [name, value - before[name as keyof typeof before]]),
      ),
    ).toEqual({
      requests: 1,
      other: 2,
      filterings: 4,
      transitions: 1,
      analysis: 1,
      undefineds: 2,
      invalid: 0,
    });
    expect(await system.metric('agent_state_availability', { state: 'analysis' })).toBe(4);
    expect(await system.metric('agent_tool_group_availability', { group: 'knowledge' })).toBe(2);
  });

  it('serves metrics and health (G-117)', async () => {
    const page = await (await fetch(`${system.embedded.url}/metrics`)).text();
    const types = {
      agent_tool_group_requests_total: 'counter',
      agent_tool_group_availability: 'gauge',
      agent_filtered_tools_count: 'histogram',
      agent_state_transitions_total: 'counter',
      agent_workflow_duration_seconds: 'histogram',
      agent_state_availability: 'gauge',
      agent_group_access_denied_total: 'counter',
      agent_invalid_state_transition_total: 'counter',
      agent_privilege_escalation_attempts_total: 'counter',
    };
    for (const [name, type] of Object.entries(types)) expect(page).toContain(`# TYPE ${name} ${type}\n`);
    const ready = await fetch(`${system.embedded.url}/health/ready`);
    const standing = { partitions: 1, heartbeat_age_seconds: expect.any(Number) };
    expect([ready.status, await ready.json()]).toEqual([
      200,
      {
        status: 'ok',
        checks: {
          log: 'ok',
          ledger: 'ok',
          configuration: 'ok',
          filter: 'ok',
          agent: 'ok',
          executor: 'ok',
          audit: 'ok',
        },
        figures: { filter: standing, agent: standing, executor: standing, audit: standing },
      },
    ]);
    const live = await fetch(`${system.embedded.url}/health/live`);
    expect([live.status, await live.json()]).toEqual([200, { status: 'ok', checks: { 'event loop': 'ok' } }]);
  });

  it('carries the trace context through every hop, and no other header', async () => {
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'vendor=1' };
    const request = JSON.stringify({ question: 'Go', request_id: 'traced', group: ['read-only'] });
    await system.bus.appendRaw('agent.requests', 'traced', Buffer.from(request), {
      ...trace,
      authorization: 'Bearer x',
    });
    await system.responseOf('traced');
    const records = await system.all('agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses');
    const own = records.filter(({ record }) => record.requestId === 'traced');
    expect(own.length).toBeGreaterThan(3);
    for (const { headers } of own) expect(headers).toEqual(trace);
  });

  it('keeps runs of many sessions apart (G-151)', async () => {
    const groups = [['knowledge', 'compute', 'admin'], ['read-only'], ['*'], []];
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) => system.ask({ requestId: `many-${n}`, group: groups[n % 4] ?? null })),
    );
    for (const [n, response] of responses.entries()) {
      expect(response.sessionId).toBe(`many-${n}`);
      expect(response.run?.stateTransitions).toHaveLength([3, 1, 3, 0][n % 4] as number);
    }
  });
});
