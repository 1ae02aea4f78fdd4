import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { openFolderContent } from '@sluice/content';

it('content on a disk that is full is refused with a sentence, and taken again when there is room', async () => {
  if (process.getuid?.() !== 0) throw new Error('A small file system can be mounted by root alone.');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]);
  try {
    const store = await openFolderContent(folder, { clock: { now: () => 0 }, keys: [], maxBytes: 10_000_000 });
    const put = (runId: string) => store.put({ tenantId: 't', runId }, 'image/png', randomBytes(1_200_000), null);
    await put('first');
    await expect(put('second')).rejects.toMatchObject({
      code: 'content_unreachable',
      retryable: true,
      message: expect.stringMatching(/has no room left: the disk or its quota is full/),
    });
    await store.remove({ tenantId: 't', runId: 'first' });
    expect(await put('second')).toMatchObject({ size: 1_200_000 });
  } finally {
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  }
});
