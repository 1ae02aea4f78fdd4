import { createPrivateKey, createPublicKey } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import { Fault } from '@sluice/core';
import type { KeySet, SealingKey, SealingRole } from './key-set.js';

const algorithm = { alg: 'ECDH-ES', enc: 'A256GCM' } as const;

/** Seals texts so that one role alone can read them (JWE, ECDH-ES with X25519 and A256GCM). */
export interface Seals {
  /** Null where the keys, of a former version, have none for it. */
  seal(role: SealingRole, text: string): Promise<string | null>;
  /**
   * Null where this is not sealed to a key of ours, or was changed. Rejects with a Fault for a key that only others
   * have yet.
   */
  open(role: SealingRole, sealed: string): Promise<string | null>;
  /** Whether there are keys to seal to. */
  readonly canSeal: boolean;
  /** Whether this process opens what is sealed to the role. */
  canOpen(role: SealingRole): boolean;
}

export function createSeals({ sealing = [] }: KeySet): Seals {
  const ours = sealing.filter(({ d }) => d !== null);
  return {
    canSeal: sealing.length > 0,
    canOpen: (role) => ours.some((key) => key.role === role),
    seal: async (role, text) => {
      const key = sealing.find((one) => one.role === role && one.status === 'signing');
      if (key === undefined) return null;
      const header = { ...algorithm, kid: key.kid };
      return new CompactEncrypt(new TextEncoder().encode(text)).setProtectedHeader(header).encrypt(publicPart(key));
    },
    open: async (role, sealed) => {
      const kid = kidOf(sealed);
      if (kid === null) return null;
      const key = ours.find((one) => one.role === role && one.kid === kid);
      if (key === undefined && sealing.every((one) => one.kid !== kid))
        throw new Fault(
          'identity_unreachable',
          `A credential is sealed to the key ${kid.slice(0, 40)}, which this process does not know yet. Give it the keys of \`sluice keys export ${role === 'call' ? 'ROLE' : role}\` again, and restart it.`,
          true,
        );
      return key === undefined ? null : opened(sealed, key);
    },
  };
}

async function opened(sealed: string, key: SealingKey): Promise<string | null> {
  try {
    const { plaintext } = await compactDecrypt(sealed, privatePart(key), {
      keyManagementAlgorithms: [algorithm.alg],
      contentEncryptionAlgorithms: [algorithm.enc],
    });
    return new TextDecoder('utf8', { fatal: true }).decode(plaintext);
  } catch {
    return null;
  }
}

function kidOf(sealed: string): string | null {
  try {
    const { kid } = decodeProtectedHeader(sealed);
    return typeof kid === 'string' ? kid : null;
  } catch {
    return null;
  }
}

export function publicPart({ x }: Pick<SealingKey, 'x'>) {
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}

/** Throws if the private part is not here. */
export function privatePart({ x, d }: Pick<SealingKey, 'x' | 'd'>) {
  return createPrivateKey({ key: { kty: 'OKP', crv: 'X25519', x, d: d ?? '' }, format: 'jwk' });
}
