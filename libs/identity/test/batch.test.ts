import { describe, expect, it } from '@jest/globals';
import { CompactSign } from 'jose';
import type { JsonObject, Signatures } from '@sluice/core';
import { createSignatures, newKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { batchOf, batchType, largestBatch } from '../src/keys/batch.js';
import { privateKey } from '../src/keys/read-key-set.js';

const set = newKeySet(0);
const signer = createSignatures(set);
/** Another process of the same installation: it recognises nothing without arithmetic. */
const reader = () => createSignatures(set);
/** Nor does this one, but it has seen these tokens before. */
async function readerOf(tokens: readonly string[]): Promise<Signatures> {
  const warm = reader();
  for (const token of tokens) expect(await warm.verify('filter', token)).not.toBeNull();
  return warm;
}
const claim = (n: number): JsonObject => ({ request: `r-${n}`, tools: ['core__a'] });

function together(count: number): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => signer.sign('filter', claim(n))));
}

const jwsOf = (token: string): string => token.split('~')[0] ?? '';

describe('claims signed at the same moment', () => {
  it.each([2, 3, 5, 31, 64, 100])('%i of them share one signature, and each is verified for itself', async (count) => {
    const tokens = await together(count);
    expect(new Set(tokens.map(jwsOf)).size).toBe(1);
    const verifying = reader();
    for (const [n, token] of tokens.entries()) expect(await verifying.verify('filter', token)).toEqual(claim(n));
  });

  it('are split where a batch is full, and a last one alone is a plain JWS', async () => {
    const tokens = await together(largestBatch + 1);
    expect(new Set(tokens.map(jwsOf)).size).toBe(2);
    expect(tokens.at(-1)).not.toContain('~');
    const verifying = reader();
    for (const [n, token] of tokens.entries()) expect(await verifying.verify('filter', token)).toEqual(claim(n));
  });

  it('count for nothing once any character of a token is another', async () => {
    const all = await together(3);
    const [, token = ''] = all;
    const wrong: number[] = [];
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
      for (const one of [reader(), await readerOf(all)]) {
        const claims = await one.verify('filter', changed);
        // The last character of a base64url text can have bits that stand for nothing.
        if (claims !== null && JSON.stringify(claims) !== JSON.stringify(claim(1))) wrong.push(at);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each<[string, (token: string, other: string) => string]>([
    ['the claims of another batch', (token, other) => withPart(token, 3, other)],
    ['the place of another token', (token, other) => withPart(token, 2, other)],
    ['the other side', (token) => swap(token, 1, token.split('~')[1] === '0' ? '1' : '0')],
    ['a side too many', (token) => swap(token, 1, '255')],
    ['a side that is no number', (token) => swap(token, 1, '-1')],
    ['half a hash', (token) => swap(token, 2, 'AAAA')],
    ['a part too many', (token) => `${token}~`],
    ['a part too few', (token) => token.slice(0, token.lastIndexOf('~'))],
    ['the signature alone', (token) => jwsOf(token)],
    ['thousands of hashes', (token) => swap(token, 2, Buffer.alloc(32 * 4_000).toString('base64url'))],
  ])('count for nothing with %s', async (_, change) => {
    const all = await together(4);
    const others = await Promise.all([2, 3].map((n) => signer.sign('filter', { other: n })));
    const [[token = ''], [, other = '']] = [all, others];
    for (const one of [reader(), await readerOf([...all, ...others])]) {
      expect(await one.verify('filter', change(token, other))).toBeNull();
      expect(await one.verify('filter', token)).toEqual(claim(0));
    }
  });

  it('are the same to one who knows others of their batch: another Merkle path counts for nothing, each claim twice counts twice', async () => {
    const twice = [...Array.from({ length: 9 }, (_, n) => claim(n)), claim(3)];
    const tokens = await Promise.all(twice.map((claims) => signer.sign('filter', claims)));
    const warm = await readerOf(tokens);
    for (const [n, token] of tokens.entries()) {
      expect(await warm.verify('filter', token)).toEqual(twice[n]);
      const hashes = Buffer.from(token.split('~')[2] ?? '', 'base64url');
      for (let at = 0; at < hashes.length; at += 8) {
        const others = Buffer.from(hashes);
        others.writeUInt8((others.readUInt8(at) + 1) % 256, at);
        expect(await warm.verify('filter', swap(token, 2, others.toString('base64url')))).toBeNull();
      }
      for (let sides = 0; sides < 2 ** (hashes.length / 32); sides++)
        if (String(sides) !== token.split('~')[1])
          expect(await warm.verify('filter', swap(token, 1, String(sides)))).toBeNull();
      for (const way of [Buffer.concat([hashes, hashes.subarray(0, 32)]), hashes.subarray(32), hashes.subarray(0, -32)])
        for (let sides = 0; sides < 2 ** (way.length / 32); sides++)
          expect(
            await warm.verify('filter', swap(swap(token, 1, String(sides)), 2, way.toString('base64url'))),
          ).toBeNull();
    }
  });

  it('are of the role that signed them', async () => {
    const [token = ''] = await together(2);
    expect(await reader().verify('executor', token)).toBeNull();
  });

  it('must be over a root that says so: a signature over claims is none over a batch', async () => {
    const claims = [Buffer.from('{"a":1}'), Buffer.from('{"a":2}')];
    const batch = batchOf(claims);
    const { root } = batch;
    const [good = ''] = batch.tokens(await sign(set, root, batchType));
    const [bad = ''] = batch.tokens(await sign(set, root, undefined));
    expect(await reader().verify('filter', good)).toEqual({ a: 1 });
    expect(await reader().verify('filter', bad)).toBeNull();
  });
});

function sign({ keys }: KeySet, payload: string, typ: string | undefined): Promise<string> {
  const key = keys.find(({ role, status }) => role === 'filter' && status === 'signing');
  if (key === undefined) throw new Error('No key of the filter signs.');
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, ...(typ === undefined ? {} : { typ }) })
    .sign(privateKey(key));
}

function swap(token: string, part: number, by: string): string {
  return token
    .split('~')
    .map((text, n) => (n === part ? by : text))
    .join('~');
}

function withPart(token: string, part: number, other: string): string {
  return swap(token, part, other.split('~')[part] ?? '');
}
