import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openKafkaBus } from '@sluice/bus';
import { readEnvironment } from '@sluice/host';
import { allTopics } from '@sluice/contracts';
import { run as doctor } from '../apps/sluice/src/commands/doctor.js';
import { examine } from '../apps/sluice/src/doctor/check.js';
import type { CheckReport } from '../apps/sluice/src/doctor/check.js';
import { Clocks } from '../apps/sluice/src/doctor/clocks.js';
import { optionsHere, withAdmin } from '../libs/bus/test/kafka/on-broker.js';
import { inProcess } from './harness/in-process.js';
import { sluice } from './harness/program.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import { infra, startTimeout } from './infra/client.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clock = 'tool: { clock: { type: get_current_time } }\npolicy: { allowed_tools: [clock] }\n';

async function examined(variables: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const environment = readEnvironment({ SLUICE_PORT: '0', SLUICE_DATA: join(folder, 'none'), ...variables });
  const { code, output } = await inProcess(doctor, environment, '--json', ...args);
  const reports = JSON.parse(output) as readonly CheckReport[];
  expect(output.trim().split('\n')).toHaveLength(1);
  return { code, output, of: (name: string) => reports.find(({ check }) => check === name) };
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Listens on a port of its own with these answers by path. */
async function serving(answers: Readonly<Record<string, readonly [status: number, body: string]>>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''}`);
    const [status, body] = answers[request.url?.split('?')[0] ?? ''] ?? [404, '{}'];
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, asked, close: () => new Promise((resolve) => server.close(resolve)) };
}

describe('sluice doctor', () => {
  it('finds nothing wrong where nothing was started yet, and leaves nothing behind', async () => {
    const { code, of } = await examined({});
    expect(code).toBe(0);
    expect(of('data_folder')).toEqual({
      ...{ check: 'data_folder', outcome: 'ok', ms: expect.any(Number) },
      detail: `${join(folder, 'none')} is not there yet; the first start makes it.`,
    });
    expect([of('log')?.outcome, of('configuration')?.outcome, of('clock')?.outcome]).toEqual([
      'ok',
      'skipped',
      'skipped',
    ]);
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  it('works beside services that run, names their process and knows their port as Sluice’s own', async () => {
    const system = await startSystem(clock, new ScriptedModel(inOrder()));
    try {
      const variables = { SLUICE_DATA: system.folder, SLUICE_PORT: new URL(system.embedded.url).port };
      const { code, output } = await sluice(['doctor'], { ...variables, SLUICE_HTTP_PORT: '0' }).ended;
      expect(output).toContain(`Process ${process.pid} runs services on it.`);
      expect(output).toContain(`Port ${variables.SLUICE_PORT} is held by Sluice itself, for health and metrics.`);
      expect(output).toMatch(/✓ configuration +In force is version c-/);
      expect([code, output.trimEnd().split('\n').at(-1)]).toEqual([0, expect.stringMatching(/^Nothing is wrong\./)]);
      await system.ask({ requestId: 'still' });
    } finally {
      await system.close();
    }
  });

  it('says what is wrong and what to do, without a secret', async () => {
    const taken = await serving({});
    const { code, output, of } = await examined({
      SLUICE_PORT: String(taken.port),
      SLUICE_DATA: '/dev/null/data',
      SLUICE_CONFIG: file('bad.yaml', 'tool: { a: {} }'),
      DATABASE_URL: 'postgres://ann:open-sesame@127.0.0.1:1/sluice',
    });
    await taken.close();
    expect(code).toBe(1);
    expect(of('port.health')).toMatchObject({
      outcome: 'failed',
      detail: `Port ${taken.port} on 127.0.0.1 is taken by another program, and is meant for health and metrics.`,
      action: 'Stop that program, or set SLUICE_PORT to a free port (0 picks one).',
    });
    expect(of('data_folder')?.outcome).toBe('failed');
    expect(of('configuration')).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('tool.a.type') });
    expect(of('database')?.detail).toContain('refuses connections. Start it, or correct its address.');
    expect(output).not.toContain('open-sesame');
  });

  it('gives a check its time, and says when it is over', async () => {
    const report = await examine({ check: 'slow', limitMs: 20, run: () => new Promise(() => undefined) });
    expect(report).toMatchObject({ outcome: 'failed', detail: 'It did not answer within 0.02 s.' });
  });

  it('compares clocks: a header is exact to the second, and half a minute breaks credentials', () => {
    const here = Date.parse('2026-11-28T12:00:00Z');
    const outcomeAt = (there: number): string => {
      const clocks = new Clocks();
      clocks.note('the registry', { there, here });
      return clocks.result().outcome;
    };
    expect([here, here - 1_500, here - 20_000, here + 600_000].map(outcomeAt)).toEqual([
      ...['ok', 'ok', 'warning', 'failed'],
    ]);
  });
});

describe('sluice doctor asks for models at no cost where it can', () => {
  const model = (port: number, name: string): string =>
    `${clock}model: { provider: openai-compatible, name: ${name}, base_url: "http://127.0.0.1:${port}/v1", api_key_env: MODEL_KEY }\n`;
  const list = '{"data":[{"id":"small-2026"}]}';

  it.each([
    ['lists it', 'small', [200, list], 'ok', /takes the key and lists it, at no cost/],
    ['lists others', 'large', [200, list], 'warning', /does not list openai-compatible\/large/],
    ['refuses the key', 'small', [401, '{}'], 'failed', /refuses the key \(401\)/],
    ['has no list', 'small', [404, '{}'], 'failed', /openai-compatible\/small/],
  ] as const)('from a provider that %s', async (_, name, answer, outcome, detail) => {
    const provider = await serving({ '/v1/models': answer });
    const SLUICE_CONFIG = file(`${name}.yaml`, model(provider.port, name));
    try {
      const variables = { SLUICE_CONFIG, MODEL_KEY: 'key-of-the-test' };
      const { output, of } = await examined(variables);
      expect(of(`model.openai-compatible/${name}`)).toMatchObject({ outcome, detail: expect.stringMatching(detail) });
      expect(provider.asked[0]).toBe('GET /v1/models Bearer key-of-the-test');
      expect(output).not.toContain('key-of-the-test');
      provider.asked.length = 0;
      expect((await examined(variables, '--no-model')).of(`model.openai-compatible/${name}`)?.outcome).toBe('skipped');
      expect(provider.asked).toEqual([]);
    } finally {
      await provider.close();
    }
  });

  it('and says which key is missing', async () => {
    const { code, of } = await examined({ SLUICE_CONFIG: file('keyless.yaml', model(1, 'small')) });
    expect(code).toBe(1);
    expect(of('model.openai-compatible/small')?.detail).toContain('set the environment variable MODEL_KEY');
  });
});

describe('sluice doctor on Kafka', () => {
  it(
    'creates and registers nothing, and finds all well once a service has opened the log',
    async () => {
      const [kafka, registry, postgres] = await Promise.all([infra('kafka'), infra('registry'), infra('postgres')]);
      const options = await optionsHere({});
      const variables = {
        ...{ SLUICE_BUS: 'kafka', SLUICE_PREFIX: options.prefix, SLUICE_KEYS: '' },
        ...{
          KAFKA_BROKERS: kafka.brokers.join(),
          SCHEMA_REGISTRY_URL: registry.url,
          DATABASE_URL: postgres.databaseUrl,
        },
        SLUICE_PARTITIONS: String(options.topics.partitions),
      };
      const absent = Object.assign(new URL(postgres.databaseUrl), { pathname: '/none' }).href;
      const before = await examined({ ...variables, SLUICE_LEDGER: `b=${absent}` });
      expect(before.of('database.b')).toMatchObject({
        ...{ outcome: 'failed', detail: expect.stringContaining('does not exist. Create it') },
      });
      expect(before.of('kafka')?.outcome).toBe('ok');
      expect(before.of('kafka.topics')).toMatchObject({
        ...{ outcome: 'warning', detail: `${allTopics.length} topics are not there yet.` },
      });
      expect(before.of('registry')?.outcome).toBe('warning');
      expect(before.of('database')?.outcome).toMatch(/ok|warning/);
      expect(before.of('clock')?.outcome).toBe('ok');
      expect(before.of('keys')?.outcome).toBe('failed');
      const there = await withAdmin(options, (admin) => admin.listTopics());
      expect(there.filter((name) => name.startsWith(options.prefix))).toEqual([]);

      await (await openKafkaBus(options)).close();
      const after = await examined(variables);
      expect(after.of('kafka.topics')?.outcome).toMatch(/ok|warning/);
      expect(after.of('kafka.rights')?.outcome).toBe('ok');
      expect(after.of('registry')).toMatchObject({ outcome: 'ok' });
      expect(after.of('configuration')?.detail).toBe('No configuration was ever applied.');
    },
    startTimeout,
  );
});
