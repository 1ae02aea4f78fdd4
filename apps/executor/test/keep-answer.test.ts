import { describe, expect, it } from '@jest/globals';
import { ContentTooLargeError, Fault } from '@sluice/core';
import type { ContentName } from '@sluice/core';
import { make } from '@sluice/contracts';
import { keepAnswer } from '../src/keep-answer.js';

const owner = { tenantId: 't', runId: 'r' };
const image = { content: [{ type: 'image', data: Buffer.alloc(2_000).toString('base64'), mimeType: 'image/png' }] };
const text = { content: [{ type: 'text', text: '{ }' }], structuredContent: {} };

function keeping(put: (type: string, expiresAt: number | null) => Promise<ContentName>, retention = -1) {
  const lines: string[] = [];
  const parts = {
    content: { put: (_owner: object, type: string, _bytes: object, expiresAt: number | null) => put(type, expiresAt) },
    clock: { now: () => 1_000 },
    environment: { retention: { 'agent.steps': { ms: retention, bytes: null } } },
    log: { error: (_details: object, line: string) => void lines.push(line) },
  } as unknown as Parameters<typeof keepAnswer>[3];
  const of = (call: Parameters<typeof make.agentRequest>[0]['call'] = null) => ({
    request: make.agentRequest({ requestId: 'r', sessionId: 's', question: '', call }),
    requestId: 'r',
  });
  return { parts, lines, of };
}

const named = (type: string): Promise<ContentName> => Promise.resolve({ hash: 'a'.repeat(64), type, size: 1 });
const direct = { tool: 't', arguments: '{}', order: 'session' };

describe('an answer is kept', () => {
  it('as long as its step, the image before the answer that names it', async () => {
    const written: (readonly [string, number | null])[] = [];
    const { parts, of } = keeping((type, expiresAt) => {
      written.push([type, expiresAt]);
      return named(type);
    }, 5_000);
    const kept = await keepAnswer(of(), owner, image, parts);
    expect(kept.map(({ kind }) => kind)).toEqual(['result', 'image']);
    expect(written).toEqual([
      ['image/png', 6_000],
      ['application/json', 6_000],
    ]);
  });

  it('of texts alone only for a client that called the tool itself', async () => {
    const { parts, of } = keeping(named);
    expect(await keepAnswer(of(), owner, text, parts)).toEqual([]);
    expect(await keepAnswer(of(direct), owner, text, parts)).toHaveLength(1);
  });

  it.each([new Fault('content_unreachable', 'The disk is full.', true), new ContentTooLargeError(1_000)])(
    'unless the store does not take it: the step stands without, and a line says so (%s)',
    async (error) => {
      const { parts, lines, of } = keeping(() => Promise.reject(error));
      expect(await keepAnswer(of(), owner, image, parts)).toEqual([]);
      expect(lines).toEqual([expect.stringContaining('could not be put into the content store')]);
    },
  );
});
