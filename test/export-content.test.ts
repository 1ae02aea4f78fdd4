import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import { openFolderContent } from '@sluice/content';
import { make, topics } from '@sluice/contracts';
import { ContentExport } from '../apps/sluice/src/export-content.js';

const step = { action: 'a', observation: 'o', stateBefore: '', state: '', toolCallId: 'c' };

describe('an export of content', () => {
  it('has what a turn that waits for a decision names, of its run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-export-'));
    const store = await openFolderContent(join(folder, 'store'), {
      clock: { now: () => 0 },
      keys: [],
      maxBytes: 1_000,
    });
    try {
      const name = await store.put({ tenantId: 't', runId: 'r' }, 'text/plain', Buffer.from('x'), null);
      const steps = [make.agentStep({ ...step, content: [{ ...name, kind: 'value', name: null }] })];
      const of = { approvalId: 'a', sessionId: 's', tool: 't', argumentsHash: '', topic: topics.toolCalls };
      const at = { partition: 0, offset: 0, expiresAt: 1, requestId: 'r', tenantId: 't' };
      const record = make.approval({ requested: make.approvalRequested({ ...of, ...at, steps }) });
      const exported = await ContentExport.into(join(folder, 'out'), store);
      const records = exported.of(
        (async function* () {
          yield await Promise.resolve({ topic: topics.approvals, record } as Incoming);
        })(),
      );
      expect(await records.next()).toMatchObject({ value: { record } });
      await records.return();
      await exported.close();
      expect(exported.written).toEqual({ pieces: 1, bytes: 1, missing: 0 });
      expect(await readFile(join(folder, 'out', name.hash), 'utf8')).toBe('x');
      const line = JSON.parse(await readFile(join(folder, 'out', 'content.jsonl'), 'utf8')) as unknown;
      expect(line).toMatchObject({ tenant: 't', request_id: 'r', file: name.hash });
    } finally {
      await store.close();
      await rm(folder, { recursive: true });
    }
  });
});
