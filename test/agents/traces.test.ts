import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sluice } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startCollector } from '../traces/collector.js';
import type { Collector } from '../traces/collector.js';

const configuration = (model: string): string => `
tool:
  research: { type: agent, group: [ask], agent: { group: [work] } }
  lead: { type: agent, group: [lead], agent: { group: [ask] } }
  now: { type: get_current_time, group: [work] }
policy: { allowed_tools: [research, lead, now], allowed_agents: [research, lead], agent_depth: 2 }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

describe('the trace of a run that calls an agent (K-62)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-traces-'));
  let model: ScriptedEndpoint;
  let collector: Collector;
  beforeAll(async () => {
    model = await scriptedEndpoint((turn, offered) => {
      if (turn > 0) return undefined;
      if (offered.includes('core__lead')) return ['core__lead', '{"question":"Who asks?"}'];
      return offered.includes('core__research') ? ['core__research', '{"question":"When?"}'] : ['core__now', '{}'];
    }, 5);
    collector = await startCollector();
    writeFileSync(join(folder, 'sluice.yaml'), configuration(model.baseUrl));
  });
  afterAll(async () => {
    await model?.close();
    await collector?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is one, with the agent’s run in it and one span for the whole', async () => {
    const { code } = await sluice(['ask', 'What time is it?', '--group', 'ask'], {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_DATA: join(folder, 'data'),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    }).ended;
    expect(code).toBe(0);
    const { spans } = collector;
    expect(spans.filter(({ name }) => name.startsWith('invoke_agent'))).toHaveLength(1);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    const count = (name: string): number => spans.filter((span) => span.name === name).length;
    // The agent’s end is a hop of the run that waits for it, the run’s own is nobody’s.
    expect([count('send agent.responses'), count('process agent.responses')]).toEqual([2, 1]);
    expect([count('execute_tool now'), count('execute_tool research'), count('chat scripted')]).toEqual([1, 1, 4]);
    expect(spans.filter(({ attributes }) => 'error.type' in attributes)).toEqual([]);
  });

  it('has the runs of agents within agents in it, too', async () => {
    const before = collector.spans.length;
    const { code } = await sluice(['ask', 'What time is it?', '--group', 'lead'], {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_DATA: join(folder, 'data'),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    }).ended;
    expect(code).toBe(0);
    const spans = collector.spans.slice(before);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const count = (name: string): number => spans.filter((span) => span.name === name).length;
    expect([count('execute_tool now'), count('execute_tool research'), count('execute_tool lead')]).toEqual([1, 1, 1]);
    expect([count('send agent.responses'), count('process agent.responses')]).toEqual([3, 2]);
  });
});
