import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { sluice } from '../harness/program.js';
import type { Ended } from '../harness/program.js';
import { unusedPort } from '../../libs/hub/test/unused-port.js';
import { startCollector } from './collector.js';
import type { Collector } from './collector.js';

const configuration = (model: string): string => `
tool:
  now: { type: get_current_time, group: [work] }
policy: { allowed_tools: [now] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

describe('the trace of a run on the embedded log', () => {
  let model: ScriptedEndpoint;
  let collector: Collector;
  let folder: string;
  let config: string;
  beforeAll(async () => {
    model = await scriptedEndpoint([['core__now', '{}']], 5);
    collector = await startCollector();
    folder = mkdtempSync(join(tmpdir(), 'sluice-traces-'));
    config = join(folder, 'sluice.yaml');
    writeFileSync(config, configuration(model.baseUrl));
  });
  afterAll(async () => {
    await model?.close();
    await collector?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (data: string, variables: Readonly<Record<string, string>>): Promise<Ended> =>
    sluice(['ask', 'What time is it?', '--group', 'work', '--request', data], {
      SLUICE_CONFIG: config,
      SLUICE_DATA: join(folder, data),
      ...variables,
    }).ended;

  it('is whole, though the request had none, and is sent before the process ends', async () => {
    const { code } = await ask('json', {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_SERVICE_NAME: 'tool-plane',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    expect(code).toBe(0);
    const names = collector.spans.map(({ name }) => name).sort();
    expect(names).toEqual(
      [
        'invoke_agent default',
        'process agent.requests',
        ...['process agent.toolsets', 'send agent.toolsets', 'chat scripted'].flatMap((name) => [name, name]),
        'send agent.tool-calls',
        'process agent.tool-calls',
        'execute_tool now',
        'send agent.steps',
        'process agent.steps',
        'send agent.responses',
      ].sort(),
    );
    const [run] = collector.spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(run).toMatchObject({ parentSpanId: '', service: 'tool-plane' });
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([run?.traceId]));
    const ids = new Set(collector.spans.map(({ spanId }) => spanId));
    for (const span of collector.spans) expect(span === run || ids.has(span.parentSpanId)).toBe(true);
    expect(collector.spans[0]?.attributes['messaging.system'] ?? 'sqlite').toBe('sqlite');
    expect(collector.requests[0]?.body.toString()).toContain('deployment.environment.name');
  });

  it('is sent as protobuf unless the environment says otherwise', async () => {
    const before = collector.requests.length;
    expect((await ask('protobuf', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })).code).toBe(0);
    const [request] = collector.requests.slice(before);
    expect(request?.headers['content-type']).toBe('application/x-protobuf');
    expect(request?.body.toString('latin1')).toContain('invoke_agent default');
  });

  it.each([
    ['always_off', { OTEL_TRACES_SAMPLER: 'always_off' }],
    ['a share of none', { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }],
    ['none as the exporter', { OTEL_TRACES_EXPORTER: 'none' }],
    ['the SDK turned off', { OTEL_SDK_DISABLED: 'true' }],
  ])('is not sent with %s', async (name, variables) => {
    const before = collector.requests.length;
    const { code } = await ask(name.replaceAll(' ', '-'), {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      ...variables,
    });
    expect([code, collector.requests.length - before]).toEqual([0, 0]);
  });

  it('delays no run: with the collector away the answer comes, and one line says so', async () => {
    const port = await unusedPort();
    const { code, errors } = await ask('away', {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '10',
    });
    expect(code).toBe(0);
    expect(errors.match(/not taken|are lost/g)?.length ?? 0).toBeGreaterThan(0);
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4318"'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; it must be one of'],
    [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER is "sometimes"'],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG is "2"; it must be a number from 0 to 1'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'sk-secret' }, 'OTEL_EXPORTER_OTLP_HEADERS must be name=value'],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: 'many' }, 'OTEL_BSP_MAX_QUEUE_SIZE is "many"'],
  ])('refuses %j with a sentence', async (variables: Record<string, string>, sentence) => {
    const { code, errors } = await ask('refused', {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      ...variables,
    });
    expect(code).toBe(1);
    expect(errors).toContain(sentence);
    expect(errors).not.toContain('sk-secret');
  });
});
