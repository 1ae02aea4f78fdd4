import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderContent } from '@sluice/content';
import { ContentTooLargeError } from '@sluice/core';
import { createMetrics } from '../src/metrics.js';
import { measuredContent } from '../src/measured-content.js';

const day = 24 * 3_600_000;

describe('the uses of the content store', () => {
  it('are counted by what became of them, and its bytes by direction', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-content-'));
    const time = { now: 1_000 };
    const metrics = createMetrics();
    const options = { clock: { now: () => time.now }, keys: [], maxBytes: 5 };
    const store = measuredContent(await openFolderContent(folder, options), metrics);
    const owner = { tenantId: 't', runId: 'r' };
    try {
      const { hash } = await store.put(owner, 'text/plain', Buffer.from('abc'), null);
      await store.put(owner, 'text/plain', Buffer.from('over'), time.now + 2 * day);
      await expect(store.put(owner, 'text/plain', Buffer.from('longer'), null)).rejects.toThrow(ContentTooLargeError);
      const read: number[] = [];
      for await (const bytes of (await store.open(owner, hash))?.bytes() ?? []) read.push(bytes.length);
      await store.open(owner, '0'.repeat(64));
      time.now += day;
      await store.sweep((written) => Promise.resolve(written.map((one) => one.hash !== hash)));
      await expect(store.sweep(() => Promise.reject(new Error('away')))).resolves.toBeDefined();
      time.now += 2 * day;
      await store.sweep((written) => Promise.resolve(written.map(() => true)));
      const text = await metrics.registry.metrics();
      for (const line of [
        'operations_total{operation="put",outcome="ok"} 2',
        'operations_total{operation="put",outcome="too_large"} 1',
        'operations_total{operation="open",outcome="ok"} 1',
        'operations_total{operation="open",outcome="absent"} 1',
        'operations_total{operation="sweep",outcome="ok"} 3',
        'bytes_total{direction="written"} 7',
        'bytes_total{direction="read"} 3',
        'removed_total{reason="unnamed"} 1',
        'removed_total{reason="expired"} 1',
      ])
        expect(text).toContain(`sluice_content_${line}`);
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });
});
