import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { command } from './harness/command.js';
import { projectRoot } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-samples-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'files'));
writeFileSync(join(folder, 'files/readme.txt'), 'hello');

/**
 * The example’s configuration, with a folder of the test’s own, and beside its tools a built-in one of the same name.
 */
const example = readFileSync(join(projectRoot, 'examples/mcp/sluice.yaml'), 'utf8');
const config = join(folder, 'sluice.yaml');
writeFileSync(
  config,
  example
    .replaceAll('examples/mcp/files', join(folder, 'files'))
    .replaceAll(/examples\/mcp\/(\w+)\/server/g, (_, name: string) => join(projectRoot, `examples/mcp/${name}/server`))
    .replace('tool:\n', 'tool:\n  read_file: { type: read_file, group: [workspace] }\n')
    .replace('allowed_tools:\n', 'allowed_tools:\n    - read_file\n'),
);
const variables = {
  PATH: process.env['PATH'] ?? '',
  SLUICE_DATA: join(folder, 'data'),
  SLUICE_CONFIG: config,
  SLUICE_PORT: '0',
};
const call = async (tool: string, args: object, group: string) => {
  const { output } = await command(['call', tool, JSON.stringify(args), '--group', group, '--json'], variables);
  return JSON.parse(output) as Record<string, unknown>;
};

describe('the example configuration of the sample servers', () => {
  it('calls a tool of each that can start, and passes on what a refused one says (M-32, M-42, M-43, M-100, M-102)', async () => {
    expect(await call('weather_lookup', { location: 'Vienna' }, 'weather')).toMatchObject({
      outcome: 'ok',
      observation: expect.stringContaining('"temperature_c":21.5') as unknown,
    });
    expect(await call('analyze_json', { json_data: '[1]' }, 'data')).toMatchObject({ outcome: 'ok' });
    expect(await call('files/read_file', { filepath: '../sluice.yaml' }, 'files')).toMatchObject({
      outcome: 'execution',
      observation: expect.stringContaining('Please provide a path within allowed directories.') as unknown,
    });
    expect(await call('query_secret_balance', { address: 'x' }, 'secret-network')).toMatchObject({
      outcome: 'unavailable',
    });
  });

  it('keeps a server’s read_file and the built-in one apart (XB-19, M-60)', async () => {
    expect(await call('files/read_file', { filepath: 'readme.txt' }, 'files')).toMatchObject({
      outcome: 'ok',
      observation: expect.stringContaining('hello') as unknown,
    });
    expect(await call('read_file', { path: 'readme.txt' }, 'workspace')).toMatchObject({ outcome: 'execution' });
    expect(await call('read_file', { filepath: 'readme.txt' }, 'workspace')).toMatchObject({ outcome: 'validation' });
  });

  it('lets a person decide before a file is written (M-03)', async () => {
    const written = join(folder, 'files/note.txt');
    const calling = call('changes/write_file', { filepath: 'note.txt', content: 'Call Ann.' }, 'files');
    const list = await eventually(
      async () => (await command(['approvals', 'list'], variables)).output,
      (text) => /\ba-[0-9a-f]+/.test(text),
    );
    expect(existsSync(written)).toBe(false);
    const [id = ''] = /\ba-[0-9a-f]+/.exec(list) ?? [];
    expect(await command(['approvals', 'approve', id], variables)).toMatchObject({ code: 0 });
    expect(await calling).toMatchObject({ outcome: 'ok' });
    expect(readFileSync(written, 'utf8')).toBe('Call Ann.');
  });
});
