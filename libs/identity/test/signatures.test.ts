import { createHmac, hkdfSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { CompactSign } from 'jose';
import type { JsonObject } from '@sluice/core';
import {
  completed,
  createSignatures,
  isComplete,
  keysFor,
  newKeySet,
  readKeySet,
  rotate,
  takeUpMs,
  writeKeySet,
} from '@sluice/identity';
import type { Key, KeySet } from '@sluice/identity';
import { privateKey } from '../src/keys/read-key-set.js';

const claims: JsonObject = { request: 'r', tools: ['core__a'] };
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function key(set: KeySet, role: string, status: string): Key {
  const found = set.keys.find((one) => one.role === role && one.status === status);
  if (found === undefined) throw new Error(`No ${status} key of the ${role}.`);
  return found;
}

function forged(header: { readonly alg: string; readonly kid?: string }, by: Key): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(privateKey(by));
}

describe('a keyed hash (XB-26)', () => {
  const set = newKeySet(0);
  const hash = (by: KeySet, text: string): string => createSignatures(by).keyedHash('executor', text);

  it('is the same in each process that has the key, names it, and is made with no other', () => {
    const made = hash(set, 'pin 1234');
    expect(made).toMatch(/^executor-[0-9a-f]{12}:[0-9a-f]{64}$/);
    expect(hash(keysFor('executor', set), 'pin 1234')).toBe(made);
    expect(made).toContain(key(set, 'executor', 'signing').kid);
    expect(hash(set, 'pin 1235')).not.toBe(made);
    expect(hash(newKeySet(0), 'pin 1234').split(':')[1]).not.toBe(made.split(':')[1]);
    expect(createSignatures(set).keyedHash('filter', 'pin 1234').split(':')[1]).not.toBe(made.split(':')[1]);
  });

  it('is as docs/audit.md says, so that it can be proved without Sluice', () => {
    const { kid, d } = key(set, 'executor', 'signing');
    const secret = hkdfSync('sha256', Buffer.from(d ?? '', 'base64url'), '', 'sluice keyed hash', 32);
    const hmac = createHmac('sha256', Buffer.from(secret)).update('pin 1234').digest('hex');
    expect(hash(set, 'pin 1234')).toBe(`${kid}:${hmac}`);
  });

  it.each(['agent', 'auditor', 'filter'] as const)('cannot be made, nor tried out, with the keys of the %s', (role) => {
    expect(() => hash(keysFor(role, set), 'pin 1234')).toThrow('no private key of the executor');
  });
});

describe('a signature', () => {
  const set = newKeySet(0);
  const signatures = createSignatures(set);
  const signing = key(set, 'filter', 'signing');
  const other = key(newKeySet(0), 'filter', 'signing');

  it('is compact JWS with EdDSA and the name of its key, and is verified', async () => {
    const token = await signatures.sign('filter', claims);
    expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toEqual({
      alg: 'EdDSA',
      kid: signing.kid,
    });
    expect(await signatures.verify('filter', token)).toEqual(claims);
  });

  it.each<[string, (honest: string) => string | null | Promise<string>]>([
    ['is not there', () => null],
    ['is empty', () => ''],
    ['is no JWS', () => 'trust me'],
    ['has the algorithm none', () => `${part({ alg: 'none', kid: signing.kid })}.${part(claims)}.`],
    ['has another payload', (honest) => honest.replace(/\.[^.]+\./, `.${part({ ...claims, tools: ['core__b'] })}.`)],
    ['lacks its signature', (honest) => honest.replace(/[^.]+$/, '')],
    ['is by another key under the known name', () => forged({ alg: 'EdDSA', kid: signing.kid }, other)],
    ['names a key that nobody has', () => forged({ alg: 'EdDSA', kid: other.kid }, other)],
    ['names no key', () => forged({ alg: 'EdDSA' }, signing)],
    ['is the executor’s', () => signatures.sign('executor', claims)],
  ])('that %s counts for nothing', async (_, make) => {
    const honest = await signatures.sign('filter', claims);
    expect(await signatures.verify('filter', await make(honest))).toBeNull();
  });
});

describe('keys', () => {
  it('are made for each role, with the next ones known beforehand', () => {
    const { keys } = newKeySet(0);
    expect(keys.map(({ role, status }) => `${role} ${status}`)).toEqual([
      'filter signing',
      'filter next',
      'agent signing',
      'agent next',
      'executor signing',
      'executor next',
      'call signing',
      'call next',
      'audit signing',
      'audit next',
      'config signing',
      'config next',
    ]);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(12);
  });

  it('are written and read back, and are only what they say', () => {
    const set = newKeySet(0);
    expect(readKeySet(writeKeySet(set), 'x')).toEqual(set);
  });

  it('rotate while both sides run: a process that was not restarted is understood, and understands (M-92)', async () => {
    const before = newKeySet(0);
    const after = rotate(before, 1);
    const [old, fresh] = [createSignatures(before), createSignatures(after)];
    for (const role of ['filter', 'executor'] as const) {
      expect(await fresh.verify(role, await old.sign(role, claims))).toEqual(claims);
      expect(await old.verify(role, await fresh.sign(role, claims))).toEqual(claims);
    }
    const later = createSignatures(rotate(after, 2));
    expect(await later.verify('filter', await fresh.sign('filter', claims))).toEqual(claims);
    expect(await later.verify('filter', await old.sign('filter', claims))).toBeNull();
  });

  it.each(['audit', 'config'] as const)(
    'of the role %s are believed for ever: what they signed stays',
    async (role) => {
      const first = newKeySet(0);
      const later = rotate(rotate(rotate(first, 1), 2), 3);
      const token = await createSignatures(first).sign(role, claims);
      expect(later.keys.find(({ kid }) => kid === key(first, role, 'signing').kid)?.status).toBe('retired');
      expect(await createSignatures(later).verify(role, token)).toEqual(claims);
    },
  );

  it('say since when ends are signed: from the first rotation on, and the time to take the keys up', () => {
    const { keys } = newKeySet(7);
    const former = { keys };
    const rotated = rotate(former, 9);
    const again = rotate(rotated, 11);
    const read = readKeySet(writeKeySet(again), 'K');
    const sets = [former, rotated, again, read, keysFor('gateway', read)];
    expect(sets.map((set) => createSignatures(set).since('ends'))).toEqual([
      Infinity,
      ...Array<number>(4).fill(9 + takeUpMs),
    ]);
    expect(createSignatures(newKeySet(7)).since('ends')).toBe(7);
    expect([former, read].map(isComplete)).toEqual([false, true]);
    expect(() => readKeySet(writeKeySet({ keys, endsSignedSince: 'soon' }), 'K')).toThrow(
      '"ends_signed_since" is no time',
    );
  });

  it('say since when each role has some, and whether a token is by one of them, whichever process made it', async () => {
    const former = { keys: newKeySet(7).keys.filter(({ role }) => role !== 'agent' && role !== 'config') };
    const after = rotate(former, 9);
    const [old, fresh] = [createSignatures(former), createSignatures(rotate(rotate(after, 10), 11))];
    expect([old.since('filter'), old.since('agent'), fresh.since('agent'), fresh.since('config')]).toEqual([
      7,
      Infinity,
      9 + takeUpMs,
      9,
    ]);
    const token = await createSignatures(after).sign('agent', claims);
    const altered = token.replace(/\.[^.]+\./, `.${part({ tools: [] })}.`);
    expect([after, rotate(after, 10)].map((set) => createSignatures(set).unknownKey('agent', altered))).toEqual([
      null,
      null,
    ]);
    const { kid } = key(after, 'agent', 'signing');
    expect([old.unknownKey('agent', token), fresh.unknownKey('filter', token), fresh.unknownKey('agent', 'x')]).toEqual(
      [kid, kid, null],
    );
  });

  it('from before the audit signed are read, and get its keys with the next rotation', async () => {
    const before = { keys: newKeySet(0).keys.filter(({ role }) => role !== 'audit') };
    const read = readKeySet(writeKeySet(before), 'x');
    expect([createSignatures(read).canSign('filter'), createSignatures(read).canSign('audit')]).toEqual([true, false]);
    const after = rotate(read, 1);
    expect(createSignatures(after).canSign('audit')).toBe(true);
    expect(after.keys.filter(({ role }) => role === 'audit').map(({ status }) => status)).toEqual(['signing', 'next']);
    expect(completed(read, 1).keys.slice(0, read.keys.length)).toEqual(read.keys);
  });

  it('that are retired stay for audit, and only those that sign or will keep their private part', () => {
    const { keys } = rotate(rotate(newKeySet(0), 1), 2);
    const filters = keys.filter(({ role }) => role === 'filter');
    expect(filters.map(({ status, d }) => [status, d !== null])).toEqual([
      ['retired', false],
      ['verifying', false],
      ['signing', true],
      ['next', true],
    ]);
    expect(() => rotate(keysFor('filter', { keys }), 3)).toThrow('Rotate the whole set');
  });

  it('go to each role as it needs them: no other role can sign for it', async () => {
    const set = newKeySet(0);
    const [filter, executor, agent] = (['filter', 'executor', 'agent'] as const).map((role) =>
      createSignatures(readKeySet(writeKeySet(keysFor(role, set)), role)),
    );
    expect([filter?.canSign('filter'), filter?.canSign('executor')]).toEqual([true, false]);
    expect([executor?.canSign('filter'), executor?.canSign('executor')]).toEqual([false, true]);
    expect([agent?.canSign('agent'), agent?.canSign('filter'), agent?.canSign('executor')]).toEqual([
      true,
      false,
      false,
    ]);
    await expect(agent?.sign('filter', claims)).rejects.toThrow('no private key of the filter');
    const grant = (await filter?.sign('filter', claims)) ?? null;
    for (const role of [executor, agent]) expect(await role?.verify('filter', grant)).toEqual(claims);
  });

  const written = JSON.parse(writeKeySet(newKeySet(0))) as { keys: [Record<string, string>, ...object[]] };
  const [first, ...rest] = written.keys;
  it.each([
    ['nonsense', 'K does not hold JSON. Make it with `sluice keys new`.'],
    ['7', 'K has no list "keys".'],
    [JSON.stringify({ keys: rest }), 'K has 0 keys with which the filter signs, and must have one.'],
    [JSON.stringify({ keys: [first, ...written.keys] }), 'K has two keys named filter-'],
    [
      JSON.stringify({ keys: [{ ...first, role: 'gateway' }, ...rest] }),
      'K, key 1: "role" must be one of filter, agent, executor, call, audit, config. If a newer version made the keys, start that version',
    ],
    [JSON.stringify({ keys: [{ ...first, status: '' }, ...rest] }), 'K, key 1: "status" must be one of next, signing,'],
    [JSON.stringify({ keys: [{ ...first, x: 'AAAA' }, ...rest] }), 'K, key 1: it is no Ed25519 key'],
    [JSON.stringify({ keys: [{ ...first, d: (rest[0] as { d: string }).d }, ...rest] }), 'its two parts do not belong'],
    [JSON.stringify({ keys: [null] }), 'K, key 1: "kid" is no text.'],
  ])('that cannot be used are refused with a sentence: %#', (text, said) => {
    expect(() => readKeySet(text, 'K')).toThrow(said);
  });
});
