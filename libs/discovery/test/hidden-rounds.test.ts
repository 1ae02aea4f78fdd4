import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Documents, StoredDocument } from '@sluice/core';
import { HiddenRounds, largestRounds, marksMs, roundsMs, type Seal } from '@sluice/discovery';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const ann = { tenantId: 'acme', userId: 'user:ann' };
const bob = { tenantId: 'acme', userId: 'user:bob' };
const signature = { text: 'signature abc', isUnique: true };
const call = { text: 'call call_0', isUnique: false };
const kept = { keys: [signature, call], text: '{"rounds":["thought"]}', mark: '{"former":["f"]}' };
/** Not a cipher, only unlike the text. */
const seal: Seal = {
  seal: (text, about) => Promise.resolve(Buffer.from(`${about}\n${text}`).toString('base64')),
  open: (sealed, about) => {
    const [place = '', text = ''] = Buffer.from(sealed, 'base64').toString().split('\n');
    return Promise.resolve(place === about ? text : null);
  },
};

class Stored implements Documents {
  readonly kept = new Map<string, StoredDocument>();
  isAway = false;
  reads = 0;

  find(key: string): Promise<StoredDocument | undefined> {
    this.reads += 1;
    return this.isAway ? Promise.reject(new Error('away')) : Promise.resolve(this.kept.get(key));
  }

  put(key: string, version: number, text: string, expiresAt: number | null): Promise<boolean> {
    if (this.isAway) return Promise.reject(new Error('away'));
    const before = this.kept.get(key);
    const isAgain = before?.version === version && before.text === text;
    if (!isAgain && (before?.version ?? 0) !== version - 1) return Promise.resolve(false);
    this.kept.set(key, { version, text, expiresAt });
    return Promise.resolve(true);
  }

  sweep(): Promise<void> {
    return Promise.resolve();
  }
}

function store(documents = new Stored(), sealed: Seal | null = null) {
  let now = 1_000;
  const warned: string[] = [];
  const rounds = (): HiddenRounds =>
    new HiddenRounds({
      ...{ documents, clock: { now: () => now }, digest, seal: sealed },
      warn: (_, message) => warned.push(message),
    });
  return { documents, rounds, warned, after: (ms: number) => void (now += ms) };
}

describe('rounds that clients see as one answer', () => {
  it('are found by each of their keys, by any instance', async () => {
    const { rounds } = store();
    await rounds().note(ann, kept);
    for (const key of kept.keys) expect(await rounds().find(ann, key)).toEqual({ mark: kept.mark, text: kept.text });
    expect(await rounds().find(ann, { text: 'signature other', isUnique: true })).toBeNull();
  });

  it('are their owner’s alone: another one has the mark by a key that no one else could have, and nothing else', async () => {
    const { rounds } = store();
    await rounds().note(ann, kept);
    expect(await rounds().find(bob, signature)).toEqual({ mark: kept.mark, text: null });
    expect(await rounds().find(bob, call)).toBeNull();
  });

  it('live for 30 days, and for 30 more from a use in the second half, their marks for longer', async () => {
    const { rounds, after } = store();
    await rounds().note(ann, kept);
    after(roundsMs * 0.8);
    expect((await rounds().find(ann, signature))?.text).toBe(kept.text);
    after(roundsMs * 0.8);
    expect((await rounds().find(ann, signature))?.text).toBe(kept.text);
    after(roundsMs + 1);
    expect(await rounds().find(ann, signature)).toEqual({ mark: kept.mark, text: null });
    after(marksMs);
    expect(await rounds().find(ann, signature)).toBeNull();
  });

  it('are not kept where they are too long; their mark is', async () => {
    const { rounds, documents, warned } = store();
    await rounds().note(ann, { ...kept, text: `{"rounds":["${'x'.repeat(largestRounds)}"]}` });
    expect(await rounds().find(ann, signature)).toEqual({ mark: kept.mark, text: null });
    expect(Math.max(...[...documents.kept.values()].map(({ text }) => text.length))).toBeLessThan(200);
    expect(warned).toHaveLength(1);
  });

  it('are sealed with a key, and without it as good as gone', async () => {
    const { rounds, documents } = store(new Stored(), seal);
    await rounds().note(ann, kept);
    expect([...documents.kept.values()].map(({ text }) => text).join()).not.toContain('thought');
    expect((await rounds().find(ann, signature))?.text).toBe(kept.text);
    expect(await store(documents).rounds().find(ann, signature)).toEqual({ mark: kept.mark, text: null });
  });

  it('are sealed before anything is written: a write that failed meanwhile would be handled nowhere', async () => {
    const documents = new Stored();
    const written: number[] = [];
    const counting = {
      ...seal,
      seal: (...of: Parameters<Seal['seal']>) => (written.push(documents.kept.size), seal.seal(...of)),
    };
    await store(documents, counting).rounds().note(ann, kept);
    expect(written).toEqual([0]);
    expect(documents.kept.size).toBe(3);
  });

  it('are sealed with the first key again when they are kept for longer, so that the former one can go', async () => {
    const second: Seal = {
      seal: async (text, about) => `second ${await seal.seal(text, about)}`,
      open: (sealed, about) => seal.open(sealed.replace('second ', ''), about),
    };
    const { documents, rounds } = store(new Stored(), seal);
    await rounds().note(ann, kept);
    const later = store(documents, second);
    later.after(roundsMs * 0.8);
    for (let times = 0; times < 2; times++) expect((await later.rounds().find(ann, signature))?.text).toBe(kept.text);
    const [sealed] = [...documents.kept].filter(([name]) => name.startsWith('discovery-rounds/'));
    expect(sealed?.[1].text).toMatch(/^second /);
  });

  it('that were kept in the clear are read after there is a key', async () => {
    const documents = new Stored();
    await store(documents).rounds().note(ann, kept);
    expect((await store(documents, seal).rounds().find(ann, signature))?.text).toBe(kept.text);
  });

  it('take the id of a call from an earlier answer', async () => {
    const { rounds } = store();
    const one = rounds();
    await one.note(ann, { ...kept, keys: [call] });
    const later = { keys: [call, { text: 'signature d', isUnique: true }], text: '{"rounds":[2]}', mark: '{}' };
    await rounds().note(ann, later);
    expect((await rounds().find(ann, call))?.text).toBe(later.text);
  });

  it('are asked for once where there are none, unless another answer may get the key', async () => {
    const { rounds, documents } = store();
    const one = rounds();
    for (let times = 0; times < 3; times++) await one.find(ann, signature);
    expect(documents.reads).toBe(1);
    for (let times = 0; times < 3; times++) await one.find(ann, call);
    expect(documents.reads).toBe(4);
  });

  it('hold up nothing where the database is away', async () => {
    const { rounds, documents, warned } = store();
    documents.isAway = true;
    const one = rounds();
    await one.note(ann, kept);
    // What this process has said itself it knows.
    expect(await one.find(ann, signature)).toEqual({ mark: kept.mark, text: null });
    expect(await rounds().find(ann, signature)).toBeNull();
    expect(warned.length).toBeGreaterThan(0);
    documents.isAway = false;
    await one.note(ann, kept);
    expect((await rounds().find(ann, signature))?.text).toBe(kept.text);
  });
});
