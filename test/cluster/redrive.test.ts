import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';
import { effectServer } from './effect-server.js';
import type { EffectServer } from './effect-server.js';
import { KafkaReader } from './reader.js';

const sessions = 12;
const script = [['mcp__effects__act', '{}']] as const;

const configuration = (model: string, effects: string): string => `
tool:
  act: { type: mcp-tool, group: [work] }
policy: { allowed_tools: [act] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
mcp:
  servers: { effects: { url: "${effects}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
limits: { tool_seconds: 5, run_seconds: 600 }
`;

describe('dead letters on Kafka, with a process for each service', () => {
  let refusing: Server;
  let model: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  let folder: string;
  beforeAll(async () => {
    refusing = createServer((_, response) => response.writeHead(401).end('{"error":{"message":"no such key"}}'));
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    model = await scriptedEndpoint(script, 5);
    effects = await effectServer(5);
    folder = mkdtempSync(join(tmpdir(), 'sluice-redrive-'));
    const { port } = refusing.address() as AddressInfo;
    cluster = await openCluster(configuration(`http://127.0.0.1:${port}/v1`, effects.url));
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await effects?.close();
    await model?.close();
    refusing?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are re-driven by their code once the configuration is mended: one more end each, one effect each, and never again', async () => {
    await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
    const reader = await KafkaReader.open(cluster);
    try {
      const ids = Array.from({ length: sessions }, (_, n) => n);
      await reader.publishJson(
        ids.map((n) => ({ question: 'Do it', group: ['work'], request_id: `r-${n}`, session_id: `s-${n}` })),
      );
      await reader.until(() => reader.responses.length >= sessions, 60_000);
      expect(new Set(reader.responses.map(({ kind }) => kind))).toEqual(new Set(['error']));

      const mended = join(folder, 'mended.yaml');
      writeFileSync(mended, configuration(model.baseUrl, effects.url));
      await cluster.command('config', 'apply', mended);
      const listed = await cluster.command('dead-letters', 'list', '--json');
      expect(listed.trim().split('\n')).toHaveLength(sessions);
      const dry = await cluster.command('dead-letters', 'redrive', '--code', 'model_refused', '--dry-run');
      expect(dry).toContain(`${sessions} would be re-driven, 0 not.`);
      const redriven = await cluster.command('dead-letters', 'redrive', '--code', 'model_refused');
      expect(redriven).toContain(`${sessions} re-driven, 0 not.`);
      await reader.until(() => reader.responses.length >= 2 * sessions, 60_000);

      expect(await cluster.command('dead-letters', 'redrive', '--all')).toContain('0 re-driven, 0 not.');
      const [first] = JSON.parse(`[${listed.trim().split('\n')[0]}]`) as { id: string }[];
      await expect(cluster.command('dead-letters', 'redrive', first?.id ?? '')).rejects.toThrow('It was re-driven by ');
    } finally {
      await reader.close();
    }
    const answered = reader.responses.filter(({ kind }) => kind === 'answer').map((response) => response.request_id);
    expect(answered.length).toBe(sessions);
    expect(new Set(answered).size).toBe(sessions);
    expect(reader.responses).toHaveLength(2 * sessions);
    expect([...effects.done.values()]).toEqual(Array.from({ length: sessions }, () => 1));
    for (const steps of reader.steps.values())
      expect(steps.map(({ iteration, outcome }) => [iteration, outcome])).toEqual([[1, 'ok']]);
  });
});
