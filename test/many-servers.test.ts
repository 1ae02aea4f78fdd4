import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Configuration, ConfiguredTool, McpOffer } from '@sluice/core';
import { isPart, topics } from '@sluice/contracts';
import { applyConfiguration } from '@sluice/run';
import { compileFile, createLog, openRuntime, readEnvironment } from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { builtInTools } from '@sluice/packs';
import { loadToolTypes } from '@sluice/sources';
import { startFilter } from '../apps/filter/src/filter.module.js';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { versioned } from './harness/applied.js';
import { infra } from './infra/client.ts';
import { freshDatabase, freshPrefix } from './infra/fresh.ts';

const servers = Array.from({ length: 20 }, (_, n) => `server-${n}`);
const each = 250;
const words = 'What this tool does is said here at length. '.repeat(60);

const offerOf = (server: string): McpOffer => ({
  server,
  tools: Array.from({ length: each }, (_, n) => ({
    name: `work-${n}`,
    description: words,
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    outputSchema: null,
  })),
});

const yaml = `
tool:
${servers.map((id) => `  ${id}: { type: mcp-tool, group: [work] }`).join('\n')}
policy: { allowed_tools: [${servers.join(', ')}] }
mcp:
  servers:
${servers.map((id) => `    ${id}: { command: none }`).join('\n')}
  tools:
${servers.map((id) => `    ${id}: { server: ${id}, tools: ['*'], effect: read_only, redaction: whole }`).join('\n')}
`;

async function compiled(folder: string): Promise<Configuration> {
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, yaml);
  const { configuration, problems } = await compileFile(file, {
    types: (folders) => loadToolTypes(folders, builtInTools),
    discover: () => Promise.resolve(servers.map(offerOf)),
    cedarProblems: () => [],
  });
  if (configuration === null) throw new Error(JSON.stringify(problems));
  return configuration;
}

describe('20 servers with 5,000 tools and long descriptions, on Kafka', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-servers-'));
  const keys = writeKeySet(newKeySet(Date.now()));
  const opened: OpenRuntime[] = [];
  let variables: Record<string, string>;
  const open = async (): Promise<OpenRuntime> => {
    const one = await openRuntime(readEnvironment(variables), createLog('silent'));
    opened.push(one);
    return one;
  };
  const apply = (configuration: Configuration) => {
    const { bus, signatures } = opened[0]?.runtime as OpenRuntime['runtime'];
    return applyConfiguration(bus, configuration, { source: 'test', compiledAt: 0 }, { signatures, isWhole: false });
  };
  const records = async () => {
    const found = [];
    for await (const { record } of opened[0]?.runtime.bus.read([topics.config], { from: 'start' }) ?? [])
      found.push(record);
    return found;
  };

  beforeAll(async () => {
    const [{ brokers }, registry, { databaseUrl }] = await Promise.all([
      infra('kafka'),
      infra('registry'),
      infra('postgres'),
    ]);
    const database = await freshDatabase(databaseUrl);
    variables = {
      ...{ SLUICE_BUS: 'kafka', KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registry.url },
      ...{ DATABASE_URL: database.url, SLUICE_PREFIX: freshPrefix('servers'), SLUICE_PARTITIONS: '1' },
      ...{ SLUICE_KEYS: keys, SLUICE_PORT: '0', SLUICE_DATA: folder, SLUICE_DRAIN_SECONDS: '1' },
    };
    await open();
  });
  afterAll(async () => {
    for (const one of opened.reverse()) await one.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('apply, part by part, and one changed description writes one part and the record that names all', async () => {
    const first = await compiled(folder);
    const [tool] = first.tools as [ConfiguredTool];
    const second = versioned({ ...first, tools: first.tools.with(0, { ...tool, description: 'It does more.' }) });
    expect(first.tools.filter(({ spec }) => spec !== null)).toHaveLength(servers.length * each);
    await apply(first);
    const before = await records();
    expect([before.length, before.filter(isPart).length]).toEqual([5_001, 5_000]);

    const { runtime } = await open();
    await runtime.configurations.start();
    expect(runtime.configurations.current().configuration).toEqual(first);
    const filter = await startFilter(runtime);
    try {
      await apply(second);
      expect((await records()).slice(before.length).map(isPart)).toEqual([true, false]);
      const { configuration } = await runtime.configurations.version(second.version);
      expect(configuration).toEqual(second);
      const former = await runtime.configurations.version(first.version);
      const shared = configuration.tools.filter((tool, n) => tool === former.configuration.tools[n]);
      expect(shared).toHaveLength(4_999);
      const ids = { requestId: 'r', sessionId: 's' };
      const request = { ...newRequest('Which tools are there?', ids), group: ['work'] };
      await runtime.bus.publish([{ topic: topics.requests, key: 's', record: request }]);
      const following = { from: 'start', follow: true, signal: AbortSignal.timeout(60_000) } as const;
      for await (const { record } of runtime.bus.read([topics.toolsets], following)) {
        expect([record.configVersion, record.list?.indexes]).toEqual([second.version, [0, 5_000]]);
        break;
      }
    } finally {
      await filter.close();
    }
  });
});
