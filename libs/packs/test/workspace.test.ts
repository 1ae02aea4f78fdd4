import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { sessionKey } from '@sluice/packs';
import { workspaceLimits } from '@sluice/tools';
import { context } from '../../sources/test/configured.js';
import { inWorkspace } from './in-workspace.js';

/** The folder that the only session’s files are in, once something was written. */
function filesIn(folder: string): string {
  return join(folder, readdirSync(folder)[0] ?? '', 'files');
}

/** Every tool that takes a path, with the path. */
const withPath: readonly [string, (path: string) => Record<string, string>][] = [
  ['read_file', (path) => ({ path })],
  ['write_file', (path) => ({ path, text: 'x' })],
  ['append_file', (path) => ({ path, text: 'x' })],
  ['list_files', (path) => ({ path })],
  ['delete_file', (path) => ({ path })],
  ['search_files', (path) => ({ path, text: 'x' })],
  ['file_exists', (path) => ({ path })],
];

describe.each(withPath)('%s', (type, args) => {
  it.each([
    ['upwards', '../secret.txt', /leads upwards/],
    ['upwards from within', 'a/../../secret.txt', /leads upwards/],
    ['absolute', '/etc/passwd', /is absolute/],
    ['absolute on Windows', 'C:/secret.txt', /is absolute/],
    ['with backslashes', '..\\secret.txt', /backslash/],
    ['with a NUL', 'a.txt\0.md', /cannot be seen/],
    ['with an invisible mark', 'a\u202etxt.md', /cannot be seen/],
    ['with half a character', 'a\ud800', /cannot be seen/],
    ['to another stream of a file', 'a.txt:hidden', /holds one of/],
    ['with a name that ends in a dot', 'a.', /ends with a dot/],
    ['to a device', 'notes/NUL.txt', /device/],
    ['too long', 'a/'.repeat(101), /200 characters/],
    ['with too long a name', 'a'.repeat(101), /100 characters/],
    ['too deep', 'a/'.repeat(17), /16 directories/],
  ])('takes no path %s (D-T01 to D-T07)', (_, path, why) =>
    inWorkspace(async ({ run, folder }) => {
      await expect(run(type, args(path))).rejects.toThrow(ToolUserError);
      await expect(run(type, args(path))).rejects.toThrow(why);
      expect(readdirSync(folder)).toEqual([]);
    }),
  );

  it('follows no link that others left there, and no second name of a file', () =>
    inWorkspace(async ({ run, folder }) => {
      await run('write_file', { path: 'a.txt', text: 'x' });
      const files = filesIn(folder);
      const outside = join(folder, 'outside');
      mkdirSync(outside);
      writeFileSync(join(outside, 'secret.txt'), 'x secret');
      symlinkSync(outside, join(files, 'way'));
      symlinkSync(join(outside, 'secret.txt'), join(files, 'link.txt'));
      linkSync(join(outside, 'secret.txt'), join(files, 'second.txt'));
      for (const path of ['way/secret.txt', 'way', 'link.txt', 'second.txt']) {
        await expect(run(type, args(path))).rejects.toThrow(/never followed/);
      }
      expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('x secret');
      expect(await run('list_files', {})).toMatchObject({ total: 1 });
      expect(await run('search_files', { text: 'secret' })).toMatchObject({ matches: [] });
    }));

  it('says so when the folder cannot be used, to the model without the system’s words', () =>
    inWorkspace(async ({ run, folder, faults }) => {
      await run('write_file', { path: 'd/a.txt', text: 'x' });
      const session = join(folder, readdirSync(folder)[0] ?? '');
      // A file where the session’s folder was: so that it shows also for a user who may do everything.
      rmSync(session, { recursive: true });
      writeFileSync(session, '');
      await expect(run(type, args('d/a.txt'))).rejects.toThrow(ToolUnavailableError);
      await expect(run(type, args('d/a.txt'))).rejects.toThrow(/^The workspace cannot be used\.$/);
      expect(faults[0]).toMatch(/ENOTDIR/);
    }));
});

describe('the workspace pack', () => {
  it('writes, replaces, reads and tells what there is (D-T01, D-T02, D-T04, D-T07, D-T08)', () =>
    inWorkspace(async ({ run }) => {
      expect(await run('list_files', {})).toEqual({ entries: [], total: 0 });
      expect(await run('write_file', { path: 'notes/plan.md', text: 'first' })).toEqual({ size: 5, created: true });
      expect(await run('write_file', { path: './notes//plan.md', text: 'Grüezi' })).toEqual({
        size: 7,
        created: false,
      });
      expect(await run('read_file', { path: 'notes/plan.md' })).toEqual({ text: 'Grüezi', offset: 0, size: 7 });
      expect(await run('list_files', {})).toEqual({
        entries: [{ name: 'notes', kind: 'directory', bytes: 0 }],
        total: 1,
      });
      expect(await run('list_files', { path: 'notes' })).toMatchObject({ entries: [{ name: 'plan.md', bytes: 7 }] });
      expect(await run('file_exists', { path: 'notes' })).toEqual({ exists: true, kind: 'directory' });
      expect(await run('file_exists', { path: 'notes/plan.md' })).toEqual({ exists: true, kind: 'file' });
      expect(await run('file_exists', { path: 'plan.md' })).toEqual({ exists: false });
      expect(await run('get_workspace_summary', {})).toEqual({ files: 1, directories: 1, bytes: 7 });
    }));

  it('appends, and makes the file that is not there (D-T03)', () =>
    inWorkspace(async ({ run }) => {
      expect(await run('append_file', { path: 'log/a.md', text: 'one\n' })).toEqual({ size: 4, created: true });
      expect(await run('append_file', { path: 'log/a.md', text: 'two\n' })).toEqual({ size: 8, created: false });
      expect(await run('read_file', { path: 'log/a.md' })).toMatchObject({ text: 'one\ntwo\n' });
    }));

  it('deletes a file or an empty directory, and says of nothing that it was nothing (D-T05)', () =>
    inWorkspace(async ({ run }) => {
      await run('write_file', { path: 'a/b.md', text: '' });
      await expect(run('delete_file', { path: 'a' })).rejects.toThrow(/not empty/);
      expect(await run('delete_file', { path: 'a/b.md' })).toEqual({ deleted: true });
      expect(await run('delete_file', { path: 'a/b.md' })).toEqual({ deleted: false });
      expect(await run('delete_file', { path: 'a' })).toEqual({ deleted: true });
      await expect(run('delete_file', { path: '.' })).rejects.toThrow(/itself cannot be deleted/);
    }));

  it('finds lines with file, line and offset, whatever the case, and nothing without an error (D-T06)', () =>
    inWorkspace(async ({ run, folder }) => {
      await run('write_file', { path: 'b/one.md', text: 'Grüezi\nthe DEADLINE is near\n' });
      await run('write_file', { path: 'a.md', text: `${'x'.repeat(300)} deadline\u0007 ${'y'.repeat(300)}` });
      writeFileSync(join(filesIn(folder), 'image.bin'), Buffer.from([0xff, 0xfe, 0x64, 0x65]));
      const found = await run('search_files', { text: 'deadline' });
      expect(found).toMatchObject({
        matches: [
          { path: 'a.md', line: 1, offset: 0, text: expect.stringMatching(/^x{29} deadline {2}y+$/) },
          { path: 'b/one.md', line: 2, offset: 8, text: 'the DEADLINE is near' },
        ],
        truncated: false,
      });
      expect(await run('read_file', { path: 'b/one.md', offset: 8, limit: 12 })).toMatchObject({
        text: 'the DEADLINE',
      });
      expect(await run('search_files', { text: 'deadline', path: 'b' })).toMatchObject({ matches: [{ line: 2 }] });
      expect(await run('search_files', { text: 'nowhere' })).toEqual({ matches: [], truncated: false });
      await run('write_file', { path: 'many.md', text: 'many\n'.repeat(31) });
      const many = await run('search_files', { text: 'MANY' });
      expect(many['matches']).toHaveLength(30);
      expect(many['truncated']).toBe(true);
    }));

  it('gives every file in parts that fit, characters whole (XB-33)', () =>
    inWorkspace(async ({ run }) => {
      const text = '"Zürich" – 東京 🙂\n'.repeat(3_000);
      await run('write_file', { path: 'long.txt', text });
      let read = '';
      for (let offset: unknown = 0, parts = 0; offset !== undefined && parts < 100; parts++) {
        const part = await run('read_file', { path: 'long.txt', offset: offset as number });
        expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(32_768);
        read += String(part['text']);
        offset = part['next_offset'];
      }
      expect(read).toBe(text);
      for (let limit = 4; limit < 12; limit++) {
        expect(await run('read_file', { path: 'long.txt', offset: 20, limit })).toMatchObject({
          text: expect.stringMatching(/^[^\ufffd]+$/u),
        });
      }
      expect(await run('read_file', { path: 'long.txt', offset: 3, limit: 4 })).toMatchObject({
        offset: 4,
        text: 'ric',
      });
    }));

  it('stays under 32 KB with the longest names and most matches (XB-33)', () =>
    inWorkspace(async ({ run, folder }) => {
      await run('write_file', { path: 'a.txt', text: '' });
      const deep = join(filesIn(folder), '東'.repeat(80));
      mkdirSync(deep);
      for (let n = 100; n < 220; n++) writeFileSync(join(deep, `${n}${'東'.repeat(80)}`), '"東京"'.repeat(200));
      for (const [type, args] of [
        ['list_files', { path: '東'.repeat(80) }],
        ['search_files', { text: '東京' }],
      ] as const) {
        const result = await run(type, args);
        expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(32_768);
      }
      expect((await run('list_files', { path: '東'.repeat(80), offset: 100 }))['entries']).toHaveLength(20);
    }));

  it.each<[string, string, Record<string, string | number>, RegExp]>([
    ['a file that is not there', 'read_file', { path: 'b.txt' }, /There is no "b\.txt".*list_files/],
    ['a directory', 'read_file', { path: 'd' }, /is a directory/],
    ['behind its end', 'read_file', { path: 'a.txt', offset: 2 }, /has 1 bytes.*0 to 1/],
    ['what is no text', 'read_file', { path: 'bytes' }, /not text/],
    ['a file as a directory', 'list_files', { path: 'a.txt' }, /read_file/],
    ['a directory that is not there', 'list_files', { path: 'e' }, /There is no "e"/],
    ['through a file', 'read_file', { path: 'a.txt/b' }, /"a\.txt" is a file/],
    ['over a directory', 'write_file', { path: 'd', text: '' }, /is a directory/],
    ['the workspace itself', 'write_file', { path: '', text: '' }, /is a directory/],
    ['a name that differs in case only', 'write_file', { path: 'A.TXT', text: '' }, /"a\.txt" already.*case/],
    ['a directory that differs in case only', 'append_file', { path: 'D/x', text: 'x' }, /"d" already.*case/],
    ['where nothing is', 'search_files', { path: 'e', text: 'x' }, /There is no "e"/],
  ])('refuses %s, and says why', (_, type, args, why) =>
    inWorkspace(async ({ run, folder }) => {
      await run('write_file', { path: 'a.txt', text: 'x' });
      await run('write_file', { path: 'd/x.txt', text: 'x' });
      writeFileSync(join(filesIn(folder), 'bytes'), Buffer.from([0x80, 0xff]));
      await expect(run(type, args)).rejects.toThrow(ToolUserError);
      await expect(run(type, args)).rejects.toThrow(why);
    }),
  );

  it('bounds the file, the bytes and the number of entries', () =>
    inWorkspace(async ({ run, folder }) => {
      const { fileBytes, totalBytes, entries } = workspaceLimits;
      const full = 'x'.repeat(fileBytes);
      await run('write_file', { path: 'full', text: full });
      await expect(run('append_file', { path: 'full', text: 'x' })).rejects.toThrow(/1048576 bytes/);
      await expect(run('write_file', { path: 'larger', text: `${full}x` })).rejects.toThrow(/1048576 bytes/);
      const files = filesIn(folder);
      for (let n = 1; n < totalBytes / fileBytes; n++) writeFileSync(join(files, `full-${n}`), full);
      await expect(run('write_file', { path: 'one', text: 'x' })).rejects.toThrow(/is full/);
      await run('write_file', { path: 'full', text: `y${full.slice(1)}` });
      await run('delete_file', { path: 'full' });
      for (let n = totalBytes / fileBytes; n < entries; n++) writeFileSync(join(files, `empty-${n}`), '');
      await expect(run('write_file', { path: 'd/one', text: 'x' })).rejects.toThrow(/1000 files/);
      await run('write_file', { path: 'one', text: 'x' });
      await run('write_file', { path: 'one', text: 'y' });
    }));

  it('replaces a file by another, so that no reader ever gets half of it, and leaves nothing beside it', () =>
    inWorkspace(async ({ run, folder }) => {
      await run('write_file', { path: 'a.txt', text: 'old' });
      const before = statSync(join(filesIn(folder), 'a.txt'));
      await run('write_file', { path: 'a.txt', text: 'new' });
      expect(statSync(join(filesIn(folder), 'a.txt')).ino).not.toBe(before.ino);
      expect(readdirSync(join(filesIn(folder), '..'))).toEqual(['files']);
    }));

  it('opens no other session’s files, however the session is called (XB-18, DS-99)', () =>
    inWorkspace(async ({ run, folder }) => {
      await run('write_file', { path: 'a.txt', text: 'mine' }, 'one');
      for (const other of ['ONE', 'one/', '../one', 'one/files', '', '.', 'o\0ne', '1'.repeat(10_000)]) {
        expect(await run('file_exists', { path: 'a.txt' }, other)).toEqual({ exists: false });
        await run('write_file', { path: 'a.txt', text: 'theirs' }, other);
      }
      expect(await run('read_file', { path: 'a.txt' }, 'one')).toMatchObject({ text: 'mine' });
      for (const name of readdirSync(folder)) expect(name).toMatch(/^[0-9a-f]{40}$/);
    }));

  it('is one user’s of one tenant: whom a service acts for counts, not the service (DS-99)', () => {
    const keys = [
      context,
      { ...context, tenantId: 'other' },
      { ...context, actorId: 'user:other' },
      { ...context, sessionId: 'other' },
      { ...context, tenantId: 'tenant","user:test' },
    ].map(sessionKey);
    expect(new Set(keys).size).toBe(keys.length);
    const service = { ...context, actorId: 'service:x', subjectId: 'user:test' };
    expect(sessionKey(service)).toBe(sessionKey(context));
  });
});
