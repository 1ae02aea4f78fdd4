import { createHash, generateKeyPairSync } from 'node:crypto';
import { signers } from '@sluice/core';
import type { SignerRole } from '@sluice/core';

/**
 * How far a key has come. `next` signs after the coming rotation and is known before it; `verifying` signed until the last one; both
 * are accepted, so that processes may change one after another. `retired` is kept for audit and accepted no longer.
 */
export const keyStatuses = ['next', 'signing', 'verifying', 'retired'] as const;
export type KeyStatus = (typeof keyStatuses)[number];

/** An Ed25519 key of a role. */
export interface Key {
  /** Names the key in what it signs. */
  readonly kid: string;
  readonly role: SignerRole;
  readonly status: KeyStatus;
  /** ISO 8601. */
  readonly createdAt: string;
  /** The public and the private part as base64url (RFC 8037); the latter null where it has no business. */
  readonly x: string;
  readonly d: string | null;
}

/** All keys of an installation, or what one role needs of them. */
export interface KeySet {
  readonly keys: readonly Key[];
  /** Since when ends of runs are signed, ISO 8601: a former version signed none. Absent where the keys are a former version’s. */
  readonly endsSignedSince?: string;
}

/** For each role a key that signs and the one after it. `now` is in milliseconds since the epoch. */
export function newKeySet(now: number): KeySet {
  return completed({ keys: [] }, now);
}

/**
 * The set with keys for each role that has none, and with the time from which ends must be signed: a set of a former version has none of the
 * agent and of `config`, and no such time.
 */
export function completed({ keys, endsSignedSince }: KeySet, now: number): KeySet {
  const missing = signers.filter((role) => !keys.some((key) => key.role === role));
  const made = missing.flatMap((role) => [newKey(role, 'signing', now), newKey(role, 'next', now)]);
  return { keys: [...keys, ...made], endsSignedSince: endsSignedSince ?? new Date(now).toISOString() };
}

/** Whether there is nothing that `completed` would add. */
export function isComplete({ keys, endsSignedSince }: KeySet): boolean {
  return endsSignedSince !== undefined && signers.every((role) => keys.some((key) => key.role === role));
}

/** Each key one status on, and a new next one for each role. Throws a sentence if private keys are missing. */
export function rotate({ keys, ...set }: KeySet, now: number): KeySet {
  const there = signers.filter((role) => keys.some((key) => key.role === role));
  for (const role of there) {
    if (!keys.some((key) => key.role === role && key.status === 'next' && key.d !== null))
      throw new Error(
        `There is no next private key of the ${role} here. Rotate the whole set, not what one role got of it.`,
      );
  }
  const after = { next: 'signing', signing: 'verifying', verifying: 'retired', retired: 'retired' } as const;
  const moved = keys.map((key) => {
    const status = after[key.status];
    // Nothing is ever signed with them again.
    return { ...key, status, d: status === 'signing' ? key.d : null };
  });
  return completed({ ...set, keys: [...moved, ...there.map((role) => newKey(role, 'next', now))] }, now);
}

/** What a process of the role needs: all public keys, and the private ones of that role alone. Auditor, gateway, proxy and mcp sign nothing. */
export function keysFor(role: SignerRole | 'auditor' | 'gateway' | 'proxy' | 'mcp', set: KeySet): KeySet {
  return { ...set, keys: set.keys.map((key) => (key.role === role ? key : { ...key, d: null })) };
}

/** When each role’s first key was made, and since when ends are signed, milliseconds since the epoch; Infinity for what there is not. */
export function sinceOf({ keys, endsSignedSince }: KeySet): Readonly<Record<SignerRole | 'ends', number>> {
  const ends = endsSignedSince === undefined ? Infinity : Date.parse(endsSignedSince);
  const since = { filter: Infinity, agent: Infinity, executor: Infinity, audit: Infinity, config: Infinity, ends };
  for (const { role, createdAt } of keys) since[role] = Math.min(since[role], Date.parse(createdAt));
  return since;
}

function newKey(role: SignerRole, status: KeyStatus, now: number): Key {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const name = createHash('sha256').update(x).digest('hex').slice(0, 12);
  return { kid: `${role}-${name}`, role, status, createdAt: new Date(now).toISOString(), x, d };
}
