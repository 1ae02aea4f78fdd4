import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { OpenContent } from '@sluice/core';
import { openFolderContent, readContentKeys } from '@sluice/content';
import { contentContract, read } from './contract.js';

async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function place() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-content-'));
  return {
    folder,
    open: (options: Parameters<typeof openFolderContent>[1]) => openFolderContent(folder, options),
    everything: async () => Buffer.concat(await Promise.all((await filesOf(folder)).map((file) => readFile(file)))),
    damage: async () => {
      const [file = ''] = await filesOf(join(folder, 'runs'));
      const bytes = await readFile(file);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 70_000) ^ 1, bytes.length - 70_000);
      await writeFile(file, bytes);
    },
    release: () => rm(folder, { recursive: true }),
  };
}

contentContract('a folder', place);

describe('a folder of content', () => {
  const options = { clock: { now: () => 0 }, keys: [], maxBytes: 1_000 };
  const owner = { tenantId: 't', runId: 'r' };

  it('is its owner’s alone', async () => {
    const { folder, release } = await place();
    const store = await openFolderContent(join(folder, 'content'), options);
    await store.put(owner, 'text/plain', Buffer.from('x'), null);
    const modes = await Promise.all((await filesOf(folder)).map(async (file) => (await stat(file)).mode & 0o077));
    expect(modes).toEqual([0, 0, 0]);
    await release();
  });

  it('keeps no folder of a run whose content is gone, and leaves alone what is not its own', async () => {
    const { folder, release } = await place();
    const time = { now: 0 };
    const store = await openFolderContent(folder, { ...options, clock: { now: () => time.now } });
    await mkdir(join(folder, 'due/0'), { recursive: true });
    await Promise.all(['due/.DS_Store', 'due/0/.DS_Store'].map((name) => writeFile(join(folder, name), '')));
    for (const text of ['x', 'y']) await store.put(owner, 'text/plain', Buffer.from(text), null);
    time.now += 24 * 3_600_000;
    expect(await store.sweep((all) => Promise.resolve(all.map(() => false)))).toEqual({ expired: 0, unnamed: 2 });
    const left = await readdir(join(folder, 'runs'), { recursive: true });
    expect(left.filter((name) => name.includes('/'))).toEqual([]);
    await store.put(owner, 'text/plain', Buffer.from('x'), null);
    expect(await store.list(owner)).toHaveLength(1);
    await release();
  });

  it('does not take unsealed what stands in the place of sealed content', async () => {
    const { folder, release } = await place();
    const store = await openFolderContent(folder, { ...options, keys: readContentKeys('ab'.repeat(32)) });
    const { hash } = await store.put(owner, 'text/plain', Buffer.from('true'), null);
    const [file = ''] = await filesOf(join(folder, 'runs'));
    const written = await readFile(file);
    const head = JSON.parse(written.toString('latin1', 0, 1_024)) as object;
    for (const hashKey of ['any', 'own']) {
      const forged = JSON.stringify({ ...head, seal: null, hashKey }).padEnd(1_024);
      await writeFile(file, `${forged}FAKE`, 'latin1');
      const found = await store.open(owner, hash);
      await expect(read(found as OpenContent)).rejects.toMatchObject({ code: 'content_corrupt' });
    }
    await release();
  });

  it('says what stands in its way', async () => {
    const { folder, release } = await place();
    await writeFile(join(folder, 'file'), '');
    await expect(openFolderContent(join(folder, 'file'), options)).rejects.toThrow(/is no folder. Choose another one/);
    // Root may write everywhere.
    if (process.getuid?.() !== 0) {
      await chmod(folder, 0o500);
      await expect(openFolderContent(join(folder, 'new'), options)).rejects.toThrow(/Let this user write there/);
      await chmod(folder, 0o700);
    }
    await release();
  });

  it('says that it is gone, which is worth another try', async () => {
    const { folder, release } = await place();
    const store = await openFolderContent(folder, options);
    await rm(join(folder, 'drafts'), { recursive: true });
    const gone = { code: 'content_unreachable', retryable: true };
    await expect(store.check()).rejects.toMatchObject(gone);
    await expect(store.put(owner, 'text/plain', Buffer.from('x'), null)).rejects.toMatchObject(gone);
    await release();
  });
});

describe('content keys', () => {
  it('are 32 bytes each, in base64 or hexadecimal', () => {
    const both = readContentKeys(`${Buffer.alloc(32, 1).toString('base64')}\n${'ab'.repeat(32)}\n`);
    expect(both.map(({ bytes }) => bytes.length)).toEqual([32, 32]);
    expect(new Set(both.map(({ id }) => id)).size).toBe(2);
  });

  it.each(['', 'short', 'ab'.repeat(31), `${'ab'.repeat(32)} and more`])(
    'are not %j, which no message repeats',
    (text) => {
      expect(() => readContentKeys(text)).toThrow(/^Content keys must be keys of 32 bytes, one a line/);
    },
  );
});
