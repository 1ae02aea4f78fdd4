import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { boundedLabel, otherLabel } from '@sluice/run';
import { BoundedNames } from '@sluice/host';
import { Load } from './load.js';

describe('what is counted of a day with trouble', () => {
  let load: Load;
  beforeAll(async () => {
    load = await Load.start();
    await load.healthy();
    await load.trouble();
  });
  afterAll(() => load.close());

  const value = (name: string, labels: Record<string, string> = {}): Promise<number> =>
    load.system.metric(name, labels);

  it('says of every run how long it took and by which states it went', async () => {
    const ended = (await load.system.all('agent.responses')).map(({ record }) => record);
    const begun = ended.filter(({ run }) => run !== null);
    expect(
      (await value('sluice_run_duration_seconds_count', { kind: 'answer' })) +
        (await value('sluice_run_duration_seconds_count', { kind: 'error' })),
    ).toBe(begun.length);
    const changes = begun.flatMap(({ run }) => run?.stateTransitions ?? []);
    expect(changes.length).toBeGreaterThan(3);
    expect(await value('sluice_state_changes_total')).toBe(changes.length);
    const known = changes.filter(({ from, to }) => from === 'undefined' && to === 'analysis');
    expect(await value('sluice_state_changes_total', { from: 'undefined', to: 'analysis' })).toBe(known.length);
  });

  it('names who was refused a request, and why', async () => {
    const eve = { tenant: 'acme', actor: 'user:eve' };
    expect(await value('sluice_requests_refused_total', { ...eve, reason: 'groups' })).toBe(1);
    expect(await value('sluice_requests_refused_total', { ...eve, reason: 'escalation' })).toBe(1);
    expect(await value('sluice_requests_refused_total', { tenant: '', actor: '', reason: 'credential' })).toBe(1);
    expect(await value('sluice_requests_refused_total')).toBe(3);
  });

  it('measures the model by the names of OpenTelemetry, and what its tokens cost', async () => {
    const scripted = { gen_ai_provider_name: 'openai', gen_ai_request_model: 'scripted' };
    const input = await value('gen_ai_client_token_usage_sum', { ...scripted, gen_ai_token_type: 'input' });
    const output = await value('gen_ai_client_token_usage_sum', { ...scripted, gen_ai_token_type: 'output' });
    expect(input).toBeGreaterThan(5);
    expect(await value('sluice_model_cost_total')).toBeCloseTo((input * 3 + output * 15) / 1_000_000, 10);
    const turns = 'gen_ai_client_operation_duration_seconds_count';
    expect(await value(turns, { ...scripted, error_type: 'model_refused' })).toBe(1);
    // One turn, one token each way: that is how the scripted model counts.
    expect(await value(turns, scripted)).toBe(input + 1);
  });

  it('measures tools by where they come from, how their calls ended, how long they took, and what goes in and out (K-19)', async () => {
    const steps = (await load.system.all('agent.steps')).flatMap(({ record }) => record.steps);
    const queries = steps.filter(({ action }) => action === 'knowledge-query');
    const bytes = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(await value('sluice_tool_calls_total', { tool: 'knowledge-query', source: 'core' })).toBe(queries.length);
    expect(await value('sluice_tool_calls_total', { tool: 'complex-analysis', source: 'analysis' })).toBeGreaterThan(0);
    expect(await value('sluice_tool_calls_total', { tool: 'other', source: 'other' })).toBe(1);
    const tool = { tool: 'knowledge-query' };
    for (const outcome of new Set(queries.map((step) => step.outcome)))
      expect(await value('sluice_tool_calls_total', { ...tool, outcome })).toBe(
        queries.filter((step) => step.outcome === outcome).length,
      );
    const seconds = queries.reduce((sum, step) => sum + (step.endedAt - step.startedAt) / 1_000, 0);
    expect(await value('sluice_tool_call_duration_seconds_count', tool)).toBe(queries.length);
    expect(await value('sluice_tool_call_duration_seconds_sum', tool)).toBeCloseTo(seconds, 6);
    expect(await value('sluice_tool_bytes_total', { ...tool, direction: 'arguments' })).toBe(
      bytes(queries.map((step) => step.arguments)),
    );
    expect(await value('sluice_tool_bytes_total', { ...tool, direction: 'result' })).toBe(
      bytes(queries.map((step) => step.observation)),
    );
  });

  it('measures each hop once, dead letters included, and the transactions', async () => {
    const hop = (consumer_group: string, topic: string) =>
      value('sluice_hop_duration_seconds_count', { consumer_group, topic });
    const requests = await load.system.all('agent.requests');
    // What nobody could read is no record to a reader, and a record on the log all the same.
    await until(async () => (await hop('filter', 'agent.requests')) === requests.length + 1);
    const steps = await load.system.all('agent.steps');
    await until(async () => (await hop('filter', 'agent.steps')) === steps.length);
    for (const consumer_group of ['filter', 'agent', 'executor'])
      expect(await value('sluice_transactions_total', { consumer_group, outcome: 'committed' })).toBeGreaterThan(0);
    expect(await value('sluice_transactions_total', { outcome: 'failed' })).toBe(0);
  });

  it('says that there is no backlog when all is done, which configuration is in force, and that every part is ready', async () => {
    await until(async () => (await value('sluice_lag_records')) === 0);
    expect(await value('sluice_configuration_info')).toBe(1);
    for (const check of ['log', 'ledger', 'configuration', 'filter', 'agent', 'executor'])
      await until(async () => (await value('sluice_ready', { check })) === 1);
  });

  it('says how long the oldest approval waits', async () => {
    await load.park();
    await until(async () => (await value('sluice_approvals_waiting')) === 1);
    await until(async () => (await value('sluice_approvals_oldest_seconds')) > 0);
  });

  it('is there from the start where it may go wrong, at 0', async () => {
    const page = await (await fetch(`${load.system.embedded.url}/metrics`)).text();
    for (const series of [
      'sluice_dead_letters_total{topic="agent.tool-calls",code="unexpected"} 0',
      'sluice_runs_ended_total{outcome="deadline_exceeded"} 0',
      'sluice_tool_outcome_unknown_total{tool="graph-update"} 0',
      'agent_group_access_denied_total{group="basic"} 0',
      'sluice_rebalances_total{consumer_group="agent"} 0',
      'sluice_configuration_refused_total{source="file"} 0',
      'sluice_configuration_refused_total{source="log"} 0',
    ])
      expect(page).toContain(`${series}\n`);
  });
});

describe('names that are not configured', () => {
  it('count as other, or as themselves for the first so many', () => {
    const names = new BoundedNames(2);
    expect([1, 2, 3, 1].map((n) => names.of({ tenant: 't', actor: `a-${n}` }).actor)).toEqual([
      'a-1',
      'a-2',
      otherLabel,
      'a-1',
    ]);
    expect(names.of({ tenant: 't', actor: 'a-4' })).toEqual({ tenant: otherLabel, actor: otherLabel });
    expect([boundedLabel('a', new Set(['a'])), boundedLabel('b', new Set(['a']))]).toEqual(['a', otherLabel]);
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 90_000; !(await holds());) {
    if (Date.now() > end) throw new Error('Not within 90 s.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
