import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@sluice/core';
import { joinAnswer, splitAnswer, stepContent } from '@sluice/mcp';

/** The largest that a record has to have room for (libs/run/src/room.ts). */
const mostContentBytes = 3_328;
const data = Buffer.alloc(2_000, 'x').toString('base64');
const blob = (uri: string, mimeType = 'image/png') => ({ type: 'resource', resource: { uri, mimeType, blob: data } });

/** What comes back, and the names that a step has. */
async function kept(answer: JsonObject) {
  const stored = new Map<string, Buffer>();
  const { parts, whole } = splitAnswer(answer);
  const names = parts.map(({ bytes, type }, index) => {
    const hash = index.toString(16).padStart(64, '0');
    stored.set(hash, bytes);
    return { hash, type, size: bytes.length };
  });
  const last = whole(names);
  const own = { hash: 'f'.repeat(64), type: last.type, size: last.bytes.length };
  const named = [stepContent(last, own), ...parts.map((part, index) => stepContent(part, names[index] ?? own))];
  const joined = await joinAnswer(last.bytes, (hash) => Promise.resolve(stored.get(hash) ?? Buffer.alloc(0)));
  return { joined, named };
}

describe('an answer in parts', () => {
  it.each<readonly [string, JsonObject]>([
    [
      'images beside others',
      { content: [blob('a:1'), { type: 'text', text: 'x' }, { type: 'image', data, mimeType: 'b/c' }] },
    ],
    ['more blocks than have parts', { content: Array.from({ length: 9 }, (_, n) => blob(`a:${n}`)) }],
    ['few bytes', { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/gif' }] }],
    [
      'base 64 in another form',
      { content: [{ type: 'image', data: `${data.slice(0, -1)}\n=`, mimeType: 'image/gif' }] },
    ],
    ['no content', { structuredContent: { a: 1 } }],
    ['blocks of no known form', { content: [null, 1, { type: 'resource', resource: null }, { type: 'image' }] }],
  ])('comes back as it was: %s', async (_, answer) => {
    const { joined } = await kept(answer);
    expect(joined).toEqual({ ...answer, content: answer['content'] ?? [] });
  });

  it('has names that a record has room for, however long its types and addresses are', async () => {
    const content = Array.from({ length: 9 }, (_, n) => blob(`a:${n}${'€'.repeat(5_000)}`, `image/${'y'.repeat(300)}`));
    const { named } = await kept({ content });
    expect(named).toHaveLength(6);
    const value = { hash: 'a'.repeat(64), type: 'application/json', size: 1, kind: 'value', name: null };
    const bytes = [...named, value].reduce((sum, { hash, type, kind, name }) => {
      return sum + Buffer.byteLength(hash + type + kind + (name ?? '')) + 24;
    }, 0);
    expect(bytes).toBeLessThanOrEqual(mostContentBytes);
  });

  it('of a later form is none', async () => {
    const later = Buffer.from(JSON.stringify({ format: 2, answer: {}, placed: [] }));
    expect(await joinAnswer(later, () => Promise.reject(new Error('not asked')))).toBeNull();
  });
});
