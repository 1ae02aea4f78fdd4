import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { signers } from '@sluice/core';
import type { SignerRole } from '@sluice/core';
import { keyStatuses, sealingRoles } from './key-set.js';
import type { Key, KeySet, SealingKey, SealingRole } from './key-set.js';
import { privatePart, publicPart } from './sealing.js';

/** The text that `readKeySet` reads. */
export function writeKeySet({ keys, sealing, endsSignedSince }: KeySet): string {
  const write = (crv: string) => (key: Key | SealingKey) => {
    const { kid, role, status, createdAt, x, d } = key;
    return { kid, role, status, created_at: createdAt, kty: 'OKP', crv, x, ...(d === null ? {} : { d }) };
  };
  const written = keys.map(write('Ed25519'));
  const since = endsSignedSince === undefined ? {} : { ends_signed_since: endsSignedSince };
  const sealed = sealing === undefined ? {} : { sealing: sealing.map(write('X25519')) };
  return `${JSON.stringify({ ...since, keys: written, ...sealed }, null, 2)}\n`;
}

/** Throws an Error whose sentence names what is wrong and never repeats a key. `source` says where the text is from. */
export function readKeySet(text: string, source: string): KeySet {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(`${source} does not hold JSON. ${howTo}`);
  }
  const given = (parsed ?? {}) as { keys?: unknown; sealing?: unknown; ends_signed_since?: unknown };
  const { keys, ends_signed_since: since } = given;
  if (!Array.isArray(keys)) throw new Error(`${source} has no list "keys". ${howTo}`);
  const read = keys.map((key: unknown, place) => readKey(key, `${source}, key ${place + 1}:`));
  const twice = read.find((key, place) => read.findIndex(({ kid }) => kid === key.kid) !== place);
  if (twice !== undefined) throw new Error(`${source} has two keys named ${twice.kid}. ${howTo}`);
  for (const role of signers) {
    const signing = read.filter((key) => key.role === role && key.status === 'signing').length;
    // A set of a former version is still one of filter and executor.
    if (!alwaysThere.includes(role) && !read.some((key) => key.role === role)) continue;
    if (signing !== 1)
      throw new Error(`${source} has ${signing} keys with which the ${role} signs, and must have one. ${howTo}`);
  }
  const set = { keys: read, ...readSealing(given.sealing, source) };
  if (since === undefined) return set;
  if (typeof since !== 'string' || Number.isNaN(Date.parse(since)))
    throw new Error(`${source}: "ends_signed_since" is no time. ${howTo}`);
  return { ...set, endsSignedSince: since };
}

/** Roles that every version has keys of. */
const alwaysThere: readonly SignerRole[] = ['filter', 'executor'];

/** Roles that every version that seals has keys of. */
const alwaysSealed: readonly SealingRole[] = ['filter', 'executor'];

const howTo = 'Make it with `sluice keys new`.';
const keepThem =
  'If a newer version made the keys, start that version, or put back the keys that this one had; do not make new ones, since what these signed would be taken for forged.';

/** Nothing where the keys are a former version’s. */
function readSealing(given: unknown, source: string): Pick<KeySet, 'sealing'> {
  if (given === undefined) return {};
  if (!Array.isArray(given)) throw new Error(`${source}: "sealing" is no list. ${howTo}`);
  const sealing = given.map((key: unknown, place) => {
    const where = `${source}, sealing key ${place + 1}:`;
    const read = readFields(key, where, sealingRoles);
    return checked(read, where, 'X25519', () => [publicPart(read), read.d === null ? null : privatePart(read)]);
  });
  for (const role of sealingRoles)
    if (
      sealing.filter((key) => key.role === role && key.status === 'signing').length !== 1 &&
      (alwaysSealed.includes(role) || sealing.some((key) => key.role === role))
    )
      throw new Error(`${source} must have one key to which credentials are sealed for the ${role}. ${howTo}`);
  return { sealing };
}

function readKey(value: unknown, where: string): Key {
  const key = readFields(value, where, signers);
  return checked(key, where, 'Ed25519', () => [publicKey(key), key.d === null ? null : privateKey(key)]);
}

function readFields<R extends string>(value: unknown, where: string, roles: readonly R[]) {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string): string => {
    const found = given[name];
    if (typeof found !== 'string' || found === '') throw new Error(`${where} "${name}" is no text. ${howTo}`);
    return found;
  };
  const time = (name: string): string => {
    const found = text(name);
    if (Number.isNaN(Date.parse(found))) throw new Error(`${where} "${name}" is no time. ${howTo}`);
    return found;
  };
  const oneOf = <T extends string>(name: string, allowed: readonly T[]): T => {
    const found = allowed.find((one) => one === given[name]);
    // New keys would make all that these signed forged: a newer version knows what this one does not.
    if (found === undefined) throw new Error(`${where} "${name}" must be one of ${allowed.join(', ')}. ${keepThem}`);
    return found;
  };
  return {
    kid: text('kid'),
    role: oneOf('role', roles),
    status: oneOf('status', keyStatuses),
    createdAt: time('created_at'),
    x: text('x'),
    d: given['d'] === undefined ? null : text('d'),
  };
}

/** The key, once its parts are of the curve and belong together. */
function checked<T extends { readonly x: string }>(
  key: T,
  where: string,
  curve: string,
  parts: () => readonly [KeyObject, KeyObject | null],
): T {
  try {
    const [, secret] = parts();
    if (secret !== null && createPublicKey(secret).export({ format: 'jwk' }).x !== key.x) throw new Error();
  } catch {
    throw new Error(`${where} it is no ${curve} key, or its two parts do not belong together. ${howTo}`);
  }
  return key;
}

export function publicKey({ x }: Key) {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** Throws if the private part is not here. */
export function privateKey({ x, d }: Key) {
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d: d ?? '' }, format: 'jwk' });
}
