import { describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { ContentStore, ModelSettings, StepContent } from '@sluice/core';
import { loadContent, planContent } from '@sluice/run';
import { stepOf } from '../../../model/test/requests.js';

const claude: ModelSettings = {
  ...{ provider: 'anthropic', name: 'claude-sonnet-4-5', baseUrl: null, apiKeyEnv: null, region: null },
  maxOutputTokens: 1,
};
const png = (width: number) => {
  const bytes = Buffer.alloc(40);
  bytes.writeUInt32BE(0x89504e47);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(1, 20);
  return bytes;
};
const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 2, 0, 3]),
  Buffer.alloc(30),
]);
const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([3, 0, 2, 0]), Buffer.alloc(30)]);
const webp = (form: string) => Buffer.concat([Buffer.from(`RIFF....WEBP${form}`), Buffer.alloc(30)]);

/** What a model is given of content that the store has these bytes of, or throws this for. */
async function given(stored: Buffer | Fault | null, type: string, size?: number) {
  const bytes = Buffer.isBuffer(stored) ? stored : Buffer.alloc(0);
  const content: StepContent = {
    hash: 'a'.repeat(64),
    type,
    size: size ?? bytes.length,
    kind: 'resource',
    name: 'x/y',
  };
  const faults: string[] = [];
  const store: Pick<ContentStore, 'open'> = {
    open: () => {
      if (stored instanceof Fault) return Promise.reject(stored);
      if (stored === null) return Promise.resolve(undefined);
      const read = async function* () {
        yield await Promise.resolve(bytes);
      };
      return Promise.resolve({ ...content, size: bytes.length, writtenAt: 0, expiresAt: null, bytes: read });
    },
  };
  const plan = planContent({ history: [stepOf({ toolId: 't', content: [content] })] }, claude);
  const loaded = await loadContent(plan, claude, {
    ...{ store, owner: { tenantId: 't', runId: 'r' }, signal: new AbortController().signal },
    textOf: ({ bytes: of }, { characters }) => {
      const text = Buffer.from(of).toString('latin1');
      return Promise.resolve(
        text === ''
          ? { ok: false, why: 'The file has no text.' }
          : { ok: true, text: text.slice(0, characters), characters: text.length },
      );
    },
    onFault: (_, { message }) => faults.push(message),
  });
  return { ...loaded.get(content.hash), faults };
}

describe('content for a model', () => {
  it.each<readonly [Buffer, string, string]>([
    [png(8_000), 'image/jpeg', 'image/png'],
    [jpeg, 'image/png', 'image/jpeg'],
    [gif, 'image/gif', 'image/gif'],
    [webp('VP8 '), 'image/webp', 'image/webp'],
    [webp('VP8L'), 'image/webp', 'image/webp'],
    [webp('VP8X'), 'image/webp', 'image/webp'],
    [Buffer.from('%PDF-1.7 …'), 'application/pdf', 'application/pdf'],
  ])('is sent as what its bytes are: %#', async (bytes, type, mediaType) => {
    expect(await given(bytes, type)).toEqual({
      ...{ kind: 'media', mediaType, data: bytes.toString('base64') },
      faults: [],
    });
  });

  it.each<readonly [string, Buffer | Fault | null, string, RegExp]>([
    ['an image that is too wide', png(8_001), 'image/png', /8001 × 1 pixels/],
    ['no image', Buffer.alloc(50), 'image/png', /no PNG, JPEG, GIF or WebP/],
    ['an image that is cut off', Buffer.from([0xff, 0xd8]), 'image/jpeg', /no PNG/],
    ['what is gone', null, 'image/png', /^content gone/],
    ['what is damaged', new Fault('content_corrupt', 'Broken.', false), 'image/png', /it is damaged/],
    ['a store that is away', new Fault('content_unreachable', 'Away.', true), 'image/png', /cannot be read now/],
    ['a file without text', Buffer.alloc(0), 'text/csv', /The file has no text/],
  ])('has a line in the place of %s', async (_, stored, type, note) => {
    const { faults, ...sent } = await given(stored, type);
    expect(sent).toEqual({ kind: 'note', note: expect.stringMatching(note) });
    expect(faults).toEqual(stored instanceof Fault ? [stored.message] : []);
  });

  it('is text where a PDF is encrypted, and says where it is cut', async () => {
    expect(await given(Buffer.from('%PDF-1.7 /Encrypt 5 0 R'), 'application/pdf')).toMatchObject({ kind: 'text' });
    const long = await given(Buffer.alloc(40_000, 'x'), 'text/plain');
    expect(long).toMatchObject({ kind: 'text', note: 'the first 32768 of 40000 characters' });
  });

  it('is not read where the store has more than its name says', async () => {
    expect(await given(Buffer.alloc(50), 'image/png', 3)).toEqual({
      ...{ kind: 'note', note: 'not shown: it cannot be read now' },
      faults: ['It has 50 bytes, and its name says 3.'],
    });
  });

  it('is not waited for longer than the turn has: a store that hangs ends with the signal', async () => {
    const hangs: Pick<ContentStore, 'open'> = { open: () => new Promise(() => undefined) };
    const content: StepContent = { hash: 'a'.repeat(64), type: 'image/png', size: 9, kind: 'image', name: null };
    const plan = planContent({ history: [stepOf({ toolId: 't', content: [content] })] }, claude);
    const over = new AbortController();
    const loading = loadContent(plan, claude, {
      ...{ store: hangs, owner: { tenantId: 't', runId: 'r' }, signal: over.signal, onFault: () => undefined },
      textOf: () => Promise.reject(new Error('There are no bytes.')),
    });
    over.abort(new Error('The time is up.'));
    await expect(loading).rejects.toThrow('The time is up.');
  });
});
