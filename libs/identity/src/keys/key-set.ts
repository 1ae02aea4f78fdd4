import { createHash, generateKeyPairSync } from 'node:crypto';
import { signers } from '@sluice/core';
import type { SignerRole } from '@sluice/core';

/**
 * How far a key has come. `next` signs after the coming rotation and is known before it; `verifying` signed until the
 * last one; both are accepted, so that processes may change one after another. `retired` is kept for audit and
 * accepted no longer.
 */
export const keyStatuses = ['next', 'signing', 'verifying', 'retired'] as const;
type KeyStatus = (typeof keyStatuses)[number];

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

/**
 * To whom credentials are sealed. What is sealed to `call` the executor opens, which takes requests that make one call
 * themselves, and the filter, which ends those that it does not take.
 */
export const sealingRoles = ['filter', 'executor', 'call'] as const;
export type SealingRole = (typeof sealingRoles)[number];

/** An X25519 key to which credentials are sealed for a role; `signing` is the one that is sealed to now. */
export interface SealingKey extends Omit<Key, 'role'> {
  readonly role: SealingRole;
}

/** All keys of an installation, or what one role needs of them. */
export interface KeySet {
  readonly keys: readonly Key[];
  /** Absent where the keys are a former version’s: credentials are not sealed then. */
  readonly sealing?: readonly SealingKey[];
  /**
   * Since when ends of runs are signed, ISO 8601: a former version signed none. Absent where the keys are a former
   * version’s.
   */
  readonly endsSignedSince?: string;
}

/** For each role a key that signs and the one after it. `now` is in milliseconds since the epoch. */
export function newKeySet(now: number): KeySet {
  return completed({ keys: [] }, now);
}

/**
 * The set with keys for each role that has none, and with the time from which ends must be signed: a set of a former
 * version has none of the agent, of `call` and of `config`, and no such time. From `takenUp` on the new signatures are
 * asked for: later than now where processes are still to be restarted with the set.
 */
export function completed({ keys, sealing = [], endsSignedSince }: KeySet, now: number, takenUp = now): KeySet {
  const missing = signers.filter((role) => !keys.some((key) => key.role === role));
  // Of the others nothing is missing meanwhile: a configuration is applied with the new keys, at once.
  const since = (role: SignerRole): number => (role === 'agent' ? takenUp : now);
  const made = missing.flatMap((role) => [newKey(role, 'signing', since(role)), newKey(role, 'next', since(role))]);
  const unsealed = sealingRoles.filter((role) => !sealing.some((key) => key.role === role));
  const forSealing = unsealed.flatMap((role) => [
    newSealingKey(role, 'signing', now),
    newSealingKey(role, 'next', now),
  ]);
  const ends = endsSignedSince ?? new Date(takenUp).toISOString();
  return { keys: [...keys, ...made], sealing: [...sealing, ...forSealing], endsSignedSince: ends };
}

/** Whether there is nothing that `completed` would add. */
export function isComplete({ keys, sealing = [], endsSignedSince }: KeySet): boolean {
  const isThere = signers.every((role) => keys.some((key) => key.role === role));
  return (
    endsSignedSince !== undefined && isThere && sealingRoles.every((role) => sealing.some((key) => key.role === role))
  );
}

/**
 * How long after a rotation processes may still run without the first keys of their role. What they write until then
 * is as a former version’s: unsigned, and not missing a signature for ever.
 */
export const takeUpMs = 3_600_000;

/** Each key one status on, and a new next one for each role. Throws a sentence if private keys are missing. */
export function rotate({ keys, sealing = [], ...set }: KeySet, now: number): KeySet {
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
  // What was sealed to the former key before this is still to be opened; what was sealed to those before it is not.
  const opening = sealing.map((key) => {
    const status = after[key.status];
    return { ...key, status, d: status === 'retired' ? null : key.d };
  });
  const sealed = sealingRoles.filter((role) => sealing.some((key) => key.role === role));
  const next = sealed.map((role) => newSealingKey(role, 'next', now));
  // A rotation within the time to take the first keys up does not end it.
  const counts = sinceOf({ keys });
  const signing = [...moved, ...there.map((role) => newKey(role, 'next', Math.max(now, counts[role])))];
  return completed({ ...set, keys: signing, sealing: [...opening, ...next] }, now, now + takeUpMs);
}

/** Who verifies signatures and makes none. */
export const verifyingRoles = ['auditor', 'gateway', 'proxy', 'mcp', 'notifier'] as const;

/** Roles that have a private key of `call` beside their own: one signs calls, and both verify who asks for them. */
const callSigners: readonly string[] = ['executor'];
const callOpeners: readonly string[] = ['executor', 'filter'];

/** What a process of the role needs: all public keys, and the private ones of that role alone. */
export function keysFor(role: SignerRole | (typeof verifyingRoles)[number], set: KeySet): KeySet {
  const own =
    (withCall: readonly string[]) =>
    <T extends Key | SealingKey>(key: T): T =>
      key.role === role || (key.role === 'call' && withCall.includes(role)) ? key : { ...key, d: null };
  const { keys, sealing } = set;
  return {
    ...set,
    keys: keys.map(own(callSigners)),
    ...(sealing === undefined ? {} : { sealing: sealing.map(own(callOpeners)) }),
  };
}

/**
 * When each role’s first key was made, and since when ends are signed, milliseconds since the epoch; Infinity for
 * what there is not.
 */
export function sinceOf({ keys, endsSignedSince }: KeySet): Readonly<Record<SignerRole | 'ends', number>> {
  const ends = endsSignedSince === undefined ? Infinity : Date.parse(endsSignedSince);
  const none = Object.fromEntries(signers.map((role) => [role, Infinity])) as Record<SignerRole, number>;
  const since = { ...none, ends };
  for (const { role, createdAt } of keys) since[role] = Math.min(since[role], Date.parse(createdAt));
  return since;
}

function newSealingKey(role: SealingRole, status: KeyStatus, now: number): SealingKey {
  const { x = '', d = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  const name = createHash('sha256').update(x).digest('hex').slice(0, 12);
  return { kid: `seal-${role}-${name}`, role, status, createdAt: new Date(now).toISOString(), x, d };
}

function newKey(role: SignerRole, status: KeyStatus, now: number): Key {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const name = createHash('sha256').update(x).digest('hex').slice(0, 12);
  return { kid: `${role}-${name}`, role, status, createdAt: new Date(now).toISOString(), x, d };
}
