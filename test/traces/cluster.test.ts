import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from '../cluster/cluster.js';
import type { Cluster } from '../cluster/cluster.js';
import { kinds, startCollector } from './collector.js';
import type { Collector, Received } from './collector.js';
import { rows } from './page.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const asker = '00f067aa0ba902b7';
const secret = 'sk-collector-5d1f';

interface Line {
  readonly topic: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly record: Readonly<Record<string, unknown>>;
}

describe('the trace of a run on Kafka, its services separate processes', () => {
  let model: ScriptedEndpoint;
  let collector: Collector;
  let cluster: Cluster;
  let running: readonly Program[] = [];
  let records: readonly Line[] = [];
  let spans: readonly Received[] = [];

  beforeAll(async () => {
    model = await scriptedEndpoint([calls.query, calls.analysis, ['core__no-such-tool', '{}']], 5);
    collector = await startCollector();
    const more = `model: { provider: openai-compatible, name: scripted, base_url: "${model.baseUrl}" }`;
    cluster = await openCluster(workflowConfiguration({ limits: more }), {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${secret}`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    running = await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
    await ask();
    await collector.until((seen) => seen.some(({ name }) => name.startsWith('invoke_agent')) && sends(seen) === 11);
    spans = collector.spans;
    const tail = await cluster.command('tail', '--from', 'start', '--once', '--json');
    records = tail
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
      .filter(({ record }) => record['request_id'] === 'traced');
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await collector?.close();
    await model?.close();
  });

  /** As an upstream system that traces itself: its span is named in the record's header. */
  async function ask(): Promise<void> {
    const { KAFKA_BROKERS = '' } = cluster.variables;
    const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const request = { question: 'Go', request_id: 'traced', session_id: 'of-the-trace', group: ['*'] };
    const headers = { traceparent: `00-${traceId}-${asker}-01`, tracestate: 'vendor=1' };
    const messages = [{ key: 'of-the-trace', value: JSON.stringify(request), headers }];
    await producer.send({ topic: `${cluster.prefix}agent.requests`, messages });
    await producer.disconnect();
  }

  const sends = (seen: readonly Received[]): number => seen.filter(({ name }) => name.startsWith('send ')).length;
  const named = (name: string): readonly Received[] => spans.filter((span) => span.name === name);
  const topic = (name: string): string => `${cluster.prefix}agent.${name}`;

  it('is the asker’s own, for every span of every service and every iteration', () => {
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(new Set(spans.map((span) => span.service))).toEqual(
      new Set(['sluice-filter', 'sluice-agent', 'sluice-executor']),
    );
    const counts = Object.fromEntries(
      ['requests', 'toolsets', 'tool-calls', 'steps'].map((name) => [name, named(`process ${topic(name)}`).length]),
    );
    expect(counts).toEqual({ requests: 1, toolsets: 4, 'tool-calls': 3, steps: 3 });
  });

  it('has one span for the whole run, under the asker’s, and every hop under it', () => {
    const [run, ...more] = named('invoke_agent default');
    expect(more).toEqual([]);
    expect(run).toMatchObject({ parentSpanId: asker, kind: kinds.internal, error: null });
    expect(run?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'default',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'scripted',
      'gen_ai.conversation.id': 'of-the-trace',
      'sluice.request.id': 'traced',
      'sluice.iterations': 4,
    });
    const hops = spans.filter(({ kind }) => kind === kinds.consumer);
    for (const hop of hops) {
      expect(hop.parentSpanId).toBe(run?.spanId);
      expect(hop.startMs).toBeGreaterThanOrEqual((run?.startMs ?? 0) - 1_000);
      expect(hop.attributes).toMatchObject({
        'messaging.system': 'kafka',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': hop.name.slice('process '.length),
        'messaging.consumer.group.name': hop.service.slice('sluice-'.length),
        'gen_ai.conversation.id': 'of-the-trace',
        'sluice.request.id': 'traced',
        'sluice.attempt': 1,
      });
    }
  });

  it('links every hop to the span that sent its record', () => {
    const senders = spans.filter(({ kind }) => kind === kinds.producer).map(({ spanId }) => spanId);
    for (const hop of spans.filter(({ kind }) => kind === kinds.consumer)) {
      const expected = hop.name === `process ${topic('requests')}` ? [asker] : senders;
      expect(hop.links).toHaveLength(1);
      expect(expected).toContain(hop.links[0]);
    }
  });

  it('shows each turn of the model and each call, with the names of the conventions (K-19, K-51)', () => {
    const chats = named('chat scripted');
    expect(chats).toHaveLength(4);
    for (const chat of chats) {
      expect(chat).toMatchObject({ kind: kinds.client, service: 'sluice-agent' });
      expect(chat.attributes).toMatchObject({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'scripted',
        'server.address': '127.0.0.1',
      });
      expect(Object.keys(chat.attributes)).toContain('gen_ai.usage.input_tokens');
      expect(chat.attributes['sluice.prompt.hash']).toMatch(/^[0-9a-f]{64}$/);
    }
    const [query] = named('execute_tool knowledge-query');
    expect(query).toMatchObject({ kind: kinds.internal, service: 'sluice-executor', error: null });
    expect(query?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'knowledge-query',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call-0',
      'sluice.state.before': 'undefined',
    });
    expect(named('execute_tool complex-analysis')[0]?.attributes).toMatchObject({ 'gen_ai.tool.type': 'extension' });
  });

  it('shows what goes to an MCP server as a client’s span within the call', () => {
    const [call] = named('execute_tool complex-analysis');
    const [message] = named('tools/call complex-analysis');
    expect(message).toMatchObject({ parentSpanId: call?.spanId, kind: kinds.client });
    expect(message?.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'complex-analysis',
      'network.transport': 'pipe',
      'sluice.mcp.server': 'analysis',
    });
  });

  it('shows a call that is refused as failed, with its code, and no name that the model made up (K-19)', () => {
    const [refused] = named('execute_tool');
    expect(refused).toMatchObject({ error: 'unavailable' });
    expect(refused?.attributes).toMatchObject({ 'sluice.reason': 'unknown_tool' });
    expect(JSON.stringify(refused)).not.toContain('no-such-tool');
  });

  it('shows what docs/traces.md says, and nothing else', () => {
    const common = ['gen_ai.conversation.id', 'error.type'];
    // Of servers over HTTP; those of this run are programs.
    const elsewhere = ['network.protocol.name', 'server.address', 'server.port'];
    // This run's model has no cache.
    const cached = ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_creation.input_tokens'];
    const written = rows('span').map(([name, , , attributes = []]) => ({ name: name?.[0] ?? '', attributes }));
    for (const { name, attributes } of written) {
      const [operation = ''] = name.split(' ');
      const seen = spans.filter((span) => span.name.split(' ')[0] === operation);
      const found = new Set(seen.flatMap((span) => Object.keys(span.attributes)));
      const said = attributes.filter((attribute) => attribute.includes('.'));
      expect([name, seen.length > 0]).toEqual([name, true]);
      for (const attribute of found) expect([name, ...said, ...common]).toContain(attribute);
      for (const attribute of said)
        if (!cached.includes(attribute) && (operation !== 'tools/call' || !elsewhere.includes(attribute)))
          expect([name, ...found]).toContain(attribute);
    }
    const operations = written.map(({ name }) => name.split(' ')[0]);
    for (const { name } of spans) expect(operations).toContain(name.split(' ')[0]);
  });

  it('stands in the headers of every record of the run, steps and response included, with the asker’s tracestate', () => {
    const own = records.filter((line) => !['agent.requests', 'agent.progress'].includes(line.topic));
    expect(own).toHaveLength(11);
    const senders = spans.filter(({ kind }) => kind === kinds.producer).map(({ spanId }) => spanId);
    for (const { headers } of own) {
      const [, trace, span, flags] = (headers['traceparent'] ?? '').split('-');
      expect([trace, flags]).toEqual([traceId, '01']);
      expect(senders).toContain(span);
      expect(headers['tracestate']).toMatch(/^sluice=[\da-f]{16}-00f067aa0ba902b7,vendor=1$/);
    }
  });

  it('is named on the request’s line, beside its ids', () => {
    const lines = running.flatMap((program) => program.said().trim().split('\n'));
    const line = lines.find((text) => text.includes('execution_time')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ request_id: 'traced', session_id: 'of-the-trace', trace_id: traceId });
  });

  it('holds no argument, no result, no question and no secret; the collector’s own key is sent to it alone', () => {
    const text = JSON.stringify(spans);
    for (const word of ['SELECT', 'rows', secret, model.baseUrl]) expect(text).not.toContain(word);
    for (const { headers } of collector.requests) expect(headers['x-key']).toBe(secret);
    expect(running.map((program) => program.said()).join('')).not.toContain(secret);
  });
});
