import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { JsonObject } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import { createLog, readEnvironment } from '@sluice/host';
import { configurationOf } from '../../apps/sluice/src/system/compile-once.js';
import { command } from '../harness/command.js';
import { projectRoot } from '../harness/configurations.js';

const example = (file: string): string => join(projectRoot, 'examples/openapi', file);
const read = (file: string): string => readFileSync(file, 'utf8');

describe('the example with an OpenAPI document', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pets-'));
  let server: ChildProcess;
  let config: string;

  beforeAll(async () => {
    server = spawn(process.execPath, [example('server.mjs'), '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const [, port = ''] = /:(\d+)\/v1/.exec(line.toString()) ?? [];
    config = join(folder, 'sluice.yaml');
    writeFileSync(config, read(example('sluice.yaml')).replaceAll('4010', port));
    writeFileSync(join(folder, 'petstore.yaml'), read(example('petstore.yaml')));
  });
  afterAll(async () => {
    server.kill();
    await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });

  it('is what docs/openapi.md shows', () => {
    const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(read(join(projectRoot, 'docs/openapi.md'))) ?? [];
    expect(parse(block)).toEqual(parse(read(example('sluice.yaml'))));
  });

  it('is listed without a configuration, with a block that compiles', async () => {
    const { code, output } = await command(['openapi', 'list', example('petstore.yaml')]);
    expect([code, output]).toEqual([0, expect.stringContaining('has 5 operations, of which 4 can be tools')]);
    expect(output).toMatch(/setPhoto {2}PUT \/pets\/\{petId\}\/photo[\s\S]*not usable: Its body is image\/png/);
    const block = parse(output.slice(output.indexOf('\ntool:'))) as JsonObject;
    const pasted = join(folder, 'pasted.yaml');
    writeFileSync(pasted, JSON.stringify(block));
    expect(await command(['check', pasted])).toMatchObject({
      code: 0,
      output: expect.stringContaining('4 tools, 4 allowed'),
    });
    const lines = (await command(['openapi', 'list', example('petstore.yaml'), '--json'])).output.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as JsonObject)).toMatchObject([
      {
        name: 'listPets',
        method: 'GET',
        path: '/pets',
        effect: 'read_only',
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      ...[
        { name: 'addPet', effect: 'external_side_effect' },
        { name: 'showPet' },
        { name: 'removePet' },
        { name: 'setPhoto' },
      ],
    ]);
  });

  it.each([
    [['openapi', 'list'], /Name the document/],
    [['openapi', 'show'], /sluice openapi list DOCUMENT/],
    [['openapi', 'list', 'gone.yaml'], /no file gone\.yaml/],
    [['openapi', 'list', example('server.mjs')], /neither JSON nor YAML|holds no object/],
  ])('%j ends with a sentence', async (words, sentence) => {
    expect(await command(words)).toMatchObject({ code: 1, errors: expect.stringMatching(sentence) });
  });

  it('compiles, names what cannot be a tool, and is called', async () => {
    const { output } = await command(['check', config]);
    expect(output).toMatch(/5 tools, 5 allowed, 4 of 5 offered[\s\S]*pets\/setPhoto is not offered[\s\S]*image\/png/);
    const environment = readEnvironment({});
    const { tools, mcpServers } = await configurationOf(config, { environment, log: createLog('silent') } as never);
    const hub = createMcpHub(mcpServers, { environment: () => ({}), onChange: () => undefined });
    const call = (name: string, args: JsonObject, idempotencyKey = name) => {
      const operation = tools.find(({ mcp }) => mcp?.tool === name)?.mcp?.operation;
      if (operation === undefined) throw new Error(`There is no operation ${name}.`);
      const { signal } = new AbortController();
      return hub.call('petstore', name, args, { signal, idempotencyKey, timeoutMs: 10_000, pin: null, operation });
    };
    try {
      expect(await call('listPets', { tag: ['fish', 'old'], limit: 1 })).toEqual([
        { id: 2, name: 'Mitzi', tags: ['cat', 'old'] },
      ]);
      const added = await call('addPet', { body: { name: 'Rex' } }, 'one');
      // The same key again adds nothing.
      expect(await call('addPet', { body: { name: 'Rex' } }, 'one')).toEqual(added);
      expect(await call('removePet', { petId: 4 })).toEqual({ status: 204 });
      await expect(call('showPet', { petId: 4 })).rejects.toThrow('There is no such pet.');
    } finally {
      await hub.close();
    }
  });
});
