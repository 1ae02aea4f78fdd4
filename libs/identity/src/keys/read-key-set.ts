import { createPrivateKey, createPublicKey } from 'node:crypto';
import { signers } from '@sluice/core';
import type { SignerRole } from '@sluice/core';
import { keyStatuses } from './key-set.js';
import type { Key, KeySet } from './key-set.js';

/** The text that `readKeySet` reads. */
export function writeKeySet({ keys, endsSignedSince }: KeySet): string {
  const written = keys.map(({ kid, role, status, createdAt, x, d }) => ({
    ...{ kid, role, status, created_at: createdAt, kty: 'OKP', crv: 'Ed25519', x },
    ...(d === null ? {} : { d }),
  }));
  const since = endsSignedSince === undefined ? {} : { ends_signed_since: endsSignedSince };
  return `${JSON.stringify({ ...since, keys: written }, null, 2)}\n`;
}

/** Throws an Error whose sentence names what is wrong and never repeats a key. `source` says where the text is from. */
export function readKeySet(text: string, source: string): KeySet {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(`${source} does not hold JSON. ${howTo}`);
  }
  const { keys, ends_signed_since: since } = (parsed ?? {}) as { keys?: unknown; ends_signed_since?: unknown };
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
  if (since === undefined) return { keys: read };
  if (typeof since !== 'string' || Number.isNaN(Date.parse(since)))
    throw new Error(`${source}: "ends_signed_since" is no time. ${howTo}`);
  return { keys: read, endsSignedSince: since };
}

/** Roles that every version has keys of. */
const alwaysThere: readonly SignerRole[] = ['filter', 'executor'];

const howTo = 'Make it with `sluice keys new`.';

function readKey(value: unknown, where: string): Key {
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
    if (found === undefined) throw new Error(`${where} "${name}" must be one of ${allowed.join(', ')}. ${howTo}`);
    return found;
  };
  const key: Key = {
    kid: text('kid'),
    role: oneOf('role', signers),
    status: oneOf('status', keyStatuses),
    createdAt: time('created_at'),
    x: text('x'),
    d: given['d'] === undefined ? null : text('d'),
  };
  try {
    publicKey(key);
    if (key.d !== null && createPublicKey(privateKey(key)).export({ format: 'jwk' }).x !== key.x) throw new Error();
  } catch {
    throw new Error(`${where} it is no Ed25519 key, or its two parts do not belong together. ${howTo}`);
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
