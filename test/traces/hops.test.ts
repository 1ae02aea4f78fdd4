import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { importsOf } from '../arrows.js';
import { effectServer } from '../cluster/effect-server.js';
import type { EffectServer } from '../cluster/effect-server.js';
import { asked, decide } from '../harness/approving.js';
import { projectRoot } from '../harness/configurations.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { startCollector } from './collector.js';
import type { Collector, Received } from './collector.js';

const configuration = (url: string): string => `
tool:
  now: { type: get_current_time, group: [work] }
  act: { type: mcp-tool, group: [work] }
policy:
  allowed_tools: [now, act]
  approval: { approvers: ['*'], effects: [external_side_effect] }
mcp:
  servers: { effects: { url: "${url}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
`;
const act = { calls: [['mcp__effects__act', '{}']] } as const;

describe('the trace of a run that does not go straight on', () => {
  const model = new ScriptedModel(inOrder());
  let effects: EffectServer;
  let collector: Collector;
  let system: TestSystem;
  beforeAll(async () => {
    effects = await effectServer(1);
    collector = await startCollector();
    const traces = {
      url: `${collector.endpoint}/v1/traces`,
      protocol: 'http/json' as const,
      headers: {},
      serviceName: null,
      sampler: { name: 'parentbased_always_on' as const, ratio: 1 },
      queue: { maxQueueSize: 2_048, maxExportBatchSize: 512, scheduledDelayMillis: 50, exportTimeoutMillis: 5_000 },
    };
    system = await startSystem(configuration(effects.url), model, undefined, { traces });
  });
  afterAll(async () => {
    await system?.close();
    await collector?.close();
    await effects?.close();
  });

  /**
   * The spans of a run, once its own is among them, which is the last to end: one process sends them in the order of
   * their ends.
   */
  async function spansOf(requestId: string): Promise<readonly Received[]> {
    const run = (): Received | undefined =>
      collector.spans.find(
        ({ name, attributes }) => name.startsWith('invoke_agent') && attributes['sluice.request.id'] === requestId,
      );
    await collector.until(() => run() !== undefined);
    return collector.spans.filter(({ traceId }) => traceId === run()?.traceId);
  }

  it('goes on after an approval, linked to the decision, and the server gets the call’s span', async () => {
    model.script = inOrder(act);
    const end = system.ask({ group: ['work'], requestId: 'approved', sessionId: 'session-1' });
    await decide(system, await asked(system), 'approve');
    expect(await end).toMatchObject({ kind: 'answer' });
    const spans = await spansOf('approved');
    const turns = spans.filter(({ name }) => name === 'process agent.tool-calls');
    expect(turns).toHaveLength(2);
    const decision = collector.spans
      .filter(({ name }) => name === 'process agent.approvals')
      .map(({ spanId }) => spanId);
    expect(decision).toEqual(expect.arrayContaining([turns[1]?.links[1]]));
    const [waiting, run] = spans.filter(({ name }) => name === 'execute_tool act');
    expect(waiting).toMatchObject({ error: null, attributes: { 'sluice.reason': 'approval_pending' } });
    const [message] = spans.filter(({ name }) => name === 'tools/call act');
    expect(message?.parentSpanId).toBe(run?.spanId);
    expect(effects.traceparents).toEqual([`00-${message?.traceId}-${message?.spanId}-01`]);
  });

  it('is one of a call that its request makes itself, also where the filter passes that on', async () => {
    const call = { tool: 'now', arguments: '{"timezone":"UTC"}', order: null };
    const asker = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
    for (const [topic, headers] of [
      ['agent.calls', {}],
      ['agent.requests', {}],
      ['agent.requests', asker],
    ] as const) {
      const requestId = `call-${topic}-${Object.keys(headers).length}`;
      const record = { ...newRequest('Call now', { requestId, sessionId: requestId }), call, group: ['work'] };
      await system.bus.publish([{ topic, key: requestId, record, headers }]);
      await system.responseOf(requestId);
      const spans = await spansOf(requestId);
      const [run, ...others] = spans.filter(({ name }) => name.startsWith('invoke_agent'));
      expect(others).toEqual([]);
      expect(run?.parentSpanId ?? '').toBe('traceparent' in headers ? 'b'.repeat(16) : '');
      expect(spans.filter(({ name }) => name === 'execute_tool now')).toHaveLength(1);
      const ids = new Set([...spans.map(({ spanId }) => spanId), 'b'.repeat(16), '']);
      for (const { parentSpanId = '' } of spans) expect(ids).toContain(parentSpanId ?? '');
    }
  });

  it('shows each attempt at a record, what failed of it, and that it went on', async () => {
    let failures = 1;
    model.script = () => {
      if (failures-- > 0) throw new Fault('model_unreachable', 'The model is away, says marker-7c1.', true);
      return { answer: 'done' };
    };
    expect(await system.ask({ group: ['work'], requestId: 'again' })).toMatchObject({ kind: 'answer' });
    const spans = await spansOf('again');
    const attempts = spans.filter(({ name }) => name === 'process agent.toolsets');
    expect(attempts.map(({ error, attributes }) => [attributes['sluice.attempt'], error])).toEqual([
      [1, 'model_unreachable'],
      [2, null],
    ]);
    expect(spans.filter(({ name }) => name === 'chat rules').map(({ error }) => error)).toEqual([
      'model_unreachable',
      null,
    ]);
    expect(JSON.stringify(spans)).not.toContain('marker-7c1');
  });

  it('shows a run that ends among the dead letters as failed', async () => {
    model.script = () => {
      throw new Error('Nobody foresaw marker-91d.');
    };
    expect(await system.ask({ group: ['work'], requestId: 'dead' })).toMatchObject({ kind: 'error' });
    const spans = await spansOf('dead');
    expect(spans.find(({ name }) => name.startsWith('invoke_agent'))).toMatchObject({ error: 'dead_lettered' });
    expect(spans.find(({ name }) => name === 'process agent.toolsets')).toMatchObject({ error: 'Error' });
    expect(spans.map(({ name }) => name)).toContain('send agent.responses');
    expect(JSON.stringify(spans)).not.toContain('marker-91d');
    const lines = (await system.lines()).filter((line) => line['msg'] === 'a record was put among the dead letters');
    expect(lines.at(-1)).toMatchObject({ request_id: 'dead', trace_id: spans[0]?.traceId });
  });

  it('is not sent where the asker does not sample, and its context goes on all the same', async () => {
    model.script = inOrder({ calls: [['core__now', '{}']] });
    const traceId = 'aaaabbbbccccddddaaaabbbbccccdddd';
    await append('unsampled', `00-${traceId}-00f067aa0ba902b7-00`);
    const headers = await headersOf('unsampled');
    expect(headers.length).toBeGreaterThan(3);
    for (const header of headers) expect(header).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-00$`));
    // Whatever there was to send would have come before the spans of a later run.
    await system.ask({ group: ['work'], requestId: 'after-unsampled' });
    await spansOf('after-unsampled');
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });

  it.each(['nonsense', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
    'begins a new trace where the header is %s',
    async (header) => {
      model.script = inOrder();
      const requestId = `anew-${header.length}`;
      await append(requestId, header);
      const [run] = (await spansOf(requestId)).filter(({ name }) => name.startsWith('invoke_agent'));
      expect(run).toMatchObject({ parentSpanId: '' });
      for (const found of await headersOf(requestId)) expect(found).toContain(run?.traceId);
    },
  );

  async function append(requestId: string, traceparent: string): Promise<void> {
    const request = JSON.stringify({ question: 'Go', request_id: requestId, group: ['work'] });
    await system.bus.appendRaw('agent.requests', requestId, Buffer.from(request), { traceparent });
    await system.responseOf(requestId);
  }

  async function headersOf(requestId: string): Promise<readonly (string | undefined)[]> {
    const records = await system.all('agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses');
    return records.filter(({ record }) => record.requestId === requestId).map(({ headers }) => headers['traceparent']);
  }
});

describe('OpenTelemetry', () => {
  const files = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: projectRoot }).map((path) => ({
    path,
    text: readFileSync(join(projectRoot, path), 'utf8'),
  }));
  const importing = (what: RegExp): string[] =>
    files.filter(({ text }) => importsOf(text).some((from) => what.test(from))).map(({ path }) => path);

  it('is loaded by one import that is made only where an endpoint is named', () => {
    const within = importing(/^@opentelemetry\//).map((path) => path.replace('libs/host/src/traces/', './'));
    expect(within.sort()).toEqual(['./given-ids.ts', './open-otlp.ts', './otlp-traces.ts', './watched-exporter.ts']);
    expect(importing(/(given-ids|watched-exporter|otlp-traces)\.js$/).sort()).toEqual([
      'libs/host/src/traces/open-otlp.ts',
      'libs/host/src/traces/otlp-traces.ts',
    ]);
    expect(importing(/open-otlp\.js$/)).toEqual(['libs/host/src/traces/open-traces.ts']);
    const opening = files.find(({ path }) => path.endsWith('open-traces.ts'))?.text ?? '';
    expect(opening).toContain("await import('./open-otlp.js')");
    expect(opening).not.toMatch(/from '\.\/open-otlp/);
  });
});
