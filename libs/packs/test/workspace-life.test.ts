import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openFolderWorkspaces } from '@sluice/packs';
import { inWorkspace } from './in-workspace.js';

const hour = 3_600_000;

describe('unused workspaces', () => {
  it('go when their time is over, and those in use stay: every tool is a use, reading too', () =>
    inWorkspace(async ({ run, workspaces, clock, folder }) => {
      let now = Date.now();
      clock.now = () => now;
      for (const session of ['left', 'read', 'listed', 'written'])
        await run('write_file', { path: 'a/b.txt', text: session }, session);
      now += hour;
      await run('read_file', { path: 'a/b.txt' }, 'read');
      await run('list_files', {}, 'listed');
      await run('append_file', { path: 'a/b.txt', text: '!' }, 'written');
      expect(await workspaces.forget(now - hour)).toBe(0);
      expect(await workspaces.forget(now)).toBe(1);
      expect(readdirSync(folder)).toHaveLength(3);
      expect(await run('list_files', {}, 'left')).toEqual({ entries: [], total: 0 });
      expect(await run('read_file', { path: 'a/b.txt' }, 'written')).toMatchObject({ text: 'written!' });
      expect(await workspaces.forget(now + 1)).toBe(3);
    }));

  it('go once, however many sweep, and begin again with the next file', () =>
    inWorkspace(async ({ run, workspaces }) => {
      for (let n = 0; n < 20; n++) await run('write_file', { path: 'a.txt', text: 'x' }, `session ${n}`);
      const later = Date.now() + hour;
      const counts = await Promise.all(Array.from({ length: 4 }, () => workspaces.forget(later)));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
      expect(await run('write_file', { path: 'a.txt', text: 'y' }, 'session 1')).toEqual({ size: 1, created: true });
    }));

  it('take with them what a process that was killed left, and nothing that is not theirs', () =>
    inWorkspace(async ({ run, workspaces, folder }) => {
      await run('write_file', { path: 'a.txt', text: 'x' });
      const [session = ''] = readdirSync(folder);
      const outside = join(folder, 'outside');
      mkdirSync(outside);
      writeFileSync(join(outside, 'kept.txt'), 'kept');
      symlinkSync(outside, join(folder, session, 'files', 'way'));
      symlinkSync(outside, join(folder, 'f'.repeat(40)));
      mkdirSync(join(folder, 'forgotten-half', 'files'), { recursive: true });
      for (const path of [outside, join(folder, session)]) utimesSync(path, 1, 1);
      expect(await workspaces.forget(Date.now() - hour)).toBe(1);
      expect(existsSync(join(outside, 'kept.txt'))).toBe(true);
      expect(readdirSync(folder).sort()).toEqual(['f'.repeat(40), 'outside']);
    }));

  it('are none where there is no folder yet', () =>
    inWorkspace(async ({ clock, folder }) => {
      const workspaces = openFolderWorkspaces(join(folder, 'not', 'there'), clock, () => undefined);
      expect(await workspaces.forget(clock.now())).toBe(0);
    }));
});
