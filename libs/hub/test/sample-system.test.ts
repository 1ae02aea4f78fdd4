import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSample } from './sample-client.js';
import type { Sample } from './sample-client.js';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'sample-system-')));
const allowed = join(base, 'allowed');
const second = join(base, 'second');
const outside = join(base, 'allowed-not');
const inside = (...names: string[]): string => join(allowed, ...names);
const invalid = 'Invalid file path. Please provide a path within allowed directories.';

let system: Sample;
beforeAll(async () => {
  for (const folder of [inside('docs', 'deep'), second, outside]) mkdirSync(folder, { recursive: true });
  writeFileSync(inside('a.txt'), 'hello');
  for (const name of ['report.pdf', 'deep/manual.pdf']) writeFileSync(inside('docs', name), 'pdf');
  writeFileSync(join(second, 'b.txt'), 'second');
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  writeFileSync(inside('large.txt'), 'x'.repeat(1_000_001));
  writeFileSync(inside('binary'), Buffer.of(0xff, 0xfe, 0x00));
  symlinkSync(join(outside, 'secret.txt'), inside('link.txt'));
  symlinkSync(outside, inside('way-out'));
  symlinkSync('a.txt', inside('within.txt'));
  linkSync(join(outside, 'secret.txt'), inside('second-name.txt'));
  execFileSync('mkfifo', [inside('pipe')]);
  system = await startSample('system', { args: [allowed, second] });
});
afterAll(async () => {
  await system.close();
  rmSync(base, { recursive: true, force: true });
});

describe('the sample server for files', () => {
  it('reads files of every folder it was given, by relative and by whole paths (M-40)', async () => {
    expect(await system.call('read_file', { filepath: 'a.txt' })).toEqual({
      text: 'hello',
      isError: false,
      value: { filepath: 'a.txt', bytes: 5, content: 'hello' },
    });
    expect((await system.call('read_file', { filepath: join(second, 'b.txt') })).text).toBe('second');
    expect((await system.call('read_file', { filepath: 'docs/../a.txt' })).text).toBe('hello');
  });

  it('lists a folder, and searches below it by a glob that may be left out (M-23, M-44)', async () => {
    const { text, value } = await system.call('search_files', { path: '.', pattern: '*.pdf' });
    expect(text).toBe('Found 2 files:\n- docs/deep/manual.pdf\n- docs/report.pdf');
    expect(value).toEqual({ path: '.', files: ['docs/deep/manual.pdf', 'docs/report.pdf'], more: false });
    const all = await system.call('search_files', { path: allowed });
    expect(all.value).toMatchObject({
      files: expect.not.arrayContaining(['link.txt', 'pipe', 'way-out/secret.txt']) as unknown,
    });
    expect((await system.call('list_files', {})).value).toMatchObject({
      files: expect.arrayContaining(['a.txt', 'docs/', 'way-out']) as unknown,
    });
    const missing = await system.call('search_files', { pattern: '*' });
    expect(missing).toMatchObject({ isError: true, text: expect.stringContaining('path') as unknown });
  });

  it.each([
    ['*.pdf', ['docs/deep/manual.pdf', 'docs/report.pdf']],
    ['docs/*.pdf', ['docs/report.pdf']],
    ['**/deep/m?nual.pdf', ['docs/deep/manual.pdf']],
    ['docs/**', ['docs/deep/manual.pdf', 'docs/report.pdf']],
    ['[a]', []],
    ['$(touch x);`id`|*', []],
    [`${'*a'.repeat(120)}b`, []],
  ])('takes the glob %j for a glob, and nothing of it for a command (M-77)', async (pattern, files) => {
    const started = Date.now();
    expect((await system.call('search_files', { path: '.', pattern })).value).toMatchObject({ files });
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  it.each([
    ['../allowed-not/secret.txt'],
    ['docs/../../allowed-not/secret.txt'],
    ['/etc/passwd'],
    [join(outside, 'secret.txt')],
    ['a.txt\0.md'],
    ['..'],
    ['/'],
  ])('refuses %j, which leaves its folders (M-33, M-76)', async (filepath) => {
    expect(await system.call('read_file', { filepath })).toEqual({ text: invalid, isError: true, value: undefined });
    const written = await system.call('write_file', { filepath, content: 'x' });
    expect(written).toEqual({ text: invalid, isError: true, value: undefined });
    expect((await system.call('delete_file', { filepath })).text).toBe(invalid);
    expect((await system.call('list_files', { path: filepath })).text).toBe(invalid);
  });

  it.each([
    ['link.txt', 'is a link'],
    ['within.txt', 'is a link'],
    ['way-out/secret.txt', 'reached through a link'],
    ['second-name.txt', 'linked to from elsewhere'],
    ['pipe', 'a device, a pipe or a socket'],
    ['docs', 'is a directory'],
    ['large.txt', 'has 1000001 bytes, and at most 1000000'],
    ['binary', 'holds no UTF-8 text'],
    ['nothing.txt', 'File not found at path nothing.txt. Please list the directory'],
    ['%2e%2e/allowed-not/secret.txt', 'File not found'],
    ['a.txt/b', 'File not found'],
    ['x'.repeat(300), 'File not found'],
  ])('refuses to read %j, and says what to change (M-30, M-33, M-76)', async (filepath, said) => {
    const { text, isError } = await system.call('read_file', { filepath });
    expect([isError, text]).toEqual([true, expect.stringContaining(said)]);
    expect(text).toContain('lease ');
    expect(text).not.toContain(base);
  });

  it('writes a whole file and deletes it, and leaves nothing beside it (M-44, M-83)', async () => {
    const path = inside('docs/new.txt');
    const write = (filepath: string, content: string) => system.call('write_file', { filepath, content });
    expect((await write('docs/new.txt', 'grün')).value).toEqual({ filepath: 'docs/new.txt', bytes: 5 });
    expect((await write('docs/new.txt', 'again')).isError).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('again');
    for (const filepath of ['link.txt', 'way-out/secret.txt', 'pipe', 'docs', 'no/folder.txt', 'second-name.txt'])
      expect((await write(filepath, 'x')).isError).toBe(true);
    expect((await write('docs/wide.txt', 'ü'.repeat(600_000))).text).toContain('has 1200000 bytes');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
    expect((await system.call('delete_file', { filepath: 'docs/new.txt' })).text).toBe('Deleted docs/new.txt.');
    expect(existsSync(path)).toBe(false);
    expect((await system.call('delete_file', { filepath: 'docs' })).isError).toBe(true);
    expect((await system.call('delete_file', { filepath: 'link.txt' })).isError).toBe(true);
    expect(readdirSync(inside('docs')).sort()).toEqual(['deep', 'report.pdf']);
  });

  it('annotates what destroys, and what only reads (M-50, M-51, M-57)', async () => {
    const { tools } = await system.client.listTools();
    const annotations = Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations]));
    const destroys = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };
    expect(annotations['delete_file']).toEqual({ title: 'File Deletion Tool', ...destroys });
    expect(annotations['write_file']).toEqual({ title: 'File System Write', ...destroys });
    expect(annotations['read_file']).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  });

  it('has no tool that changes files when it only reads', async () => {
    const reader = await startSample('system', { args: ['--read-only', allowed] });
    const { tools } = await reader.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['read_file', 'list_files', 'search_files']);
    await expect(reader.call('delete_file', { filepath: 'a.txt' })).rejects.toMatchObject({ code: -32602 });
    await reader.close();
  });

  it.each([[[]], [['/no/such/folder']]])('does not start with the folders %j', async (args) => {
    await expect(startSample('system', { args, era: '2025' })).rejects.toThrow();
  });
});
