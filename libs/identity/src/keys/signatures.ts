import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { JsonObject, Signatures, SignerRole } from '@sluice/core';
import { batchOf, batchType, largestBatch } from './batch.js';
import { signJws } from './jws.js';
import type { KeySet } from './key-set.js';
import { Memory } from './memory.js';
import { privateKey } from './read-key-set.js';
import { verifierWith } from './verifier.js';

/** Made from a signing key, and good for nothing but hashes: neither tells anything about the other. */
interface HashKey {
  readonly kid: string;
  readonly key: KeyObject;
}

const purpose = 'sluice keyed hash';

/** `d` is the private part of the key `kid`, base64url. */
function hashKey(kid: string, d: string): HashKey {
  return { kid, key: createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', purpose, 32))) };
}

/** `<kid>:<HMAC-SHA-256 of the text in UTF-8, hexadecimal>`. */
function keyedHash({ kid, key }: HashKey, text: string): string {
  return `${kid}:${createHmac('sha256', key).update(text).digest('hex')}`;
}

/**
 * Signatures of its own that a process recognises without arithmetic: where all services share one, that is all of
 * them.
 */
const ownKept = 1_024;

/** A checkpoint is taken elsewhere and must stand alone there. */
const batchLimits: Readonly<Record<SignerRole, number>> = {
  filter: largestBatch,
  agent: largestBatch,
  executor: largestBatch,
  call: largestBatch,
  audit: 1,
  config: 1,
};

/**
 * What these signed is verified for ever: a configuration stays in force however often keys rotate. What others
 * signed, while it may be acted on.
 */
const verifiedForEver: readonly SignerRole[] = ['audit', 'config'];

type Signer = (payload: Buffer, type?: string) => string;

interface Waiting {
  readonly claims: JsonObject;
  done(token: string): void;
  failed(error: unknown): void;
}

/**
 * Signatures with the keys of a set: a compact JWS, or under load a batch of claims under one (batch.ts). The keys are
 * imported once; a signature costs about 0.05 ms, a verification 0.1 ms, each shared by all of a batch.
 */
export function createSignatures(set: KeySet): Signatures {
  const { keys } = set;
  /**
   * By role, of those whose signatures this process is asked about: a filter alone is not asked about its own, and
   * need not remember them.
   */
  const own = new Map<SignerRole, Memory<JsonObject>>();
  const signing = new Map<SignerRole, Lane>();
  const hashing = new Map<SignerRole, HashKey>();
  for (const key of keys) {
    const { kid, role, status, d } = key;
    if (status === 'signing' && d !== null) {
      hashing.set(role, hashKey(kid, d));
      const secret = privateKey(key);
      const jws: Signer = (payload, type) => signJws(payload, kid, secret, type);
      signing.set(role, new Lane(jws, batchLimits[role], (token, claims) => own.get(role)?.set(token, claims)));
    }
  }
  const accepted = keys.filter(({ role, status }) => status !== 'retired' || verifiedForEver.includes(role));
  const verifier = verifierWith(accepted, set);
  return {
    canSign: (role) => signing.has(role),
    sign: (role, claims) => {
      const lane = signing.get(role);
      if (lane === undefined) return Promise.reject(new Error(`This process has no private key of the ${role}.`));
      return lane.sign(claims);
    },
    keyedHash: (role, text) => {
      const key = hashing.get(role);
      if (key === undefined) throw new Error(`This process has no private key of the ${role}.`);
      return keyedHash(key, text);
    },
    verify: async (role, token) => {
      if (token === null) return null;
      let remembered = own.get(role);
      if (remembered === undefined) own.set(role, (remembered = new Memory(ownKept)));
      return remembered.get(token) ?? verifier.verify(role, token);
    },
    unknownKey: verifier.unknownKey,
    since: verifier.since,
  };
}

/** What one role signs: whatever is asked for in one turn of the event loop is signed together. */
class Lane {
  private waiting: Waiting[] = [];

  constructor(
    private readonly jws: Signer,
    private readonly most: number,
    private readonly signed: (token: string, claims: JsonObject) => void,
  ) {}

  sign(claims: JsonObject): Promise<string> {
    return new Promise((done, failed) => {
      if (this.waiting.push({ claims, done, failed }) === 1) setImmediate(() => this.signAll());
    });
  }

  private signAll(): void {
    const all = this.waiting;
    this.waiting = [];
    for (let from = 0; from < all.length; from += this.most) this.signTogether(all.slice(from, from + this.most));
  }

  private signTogether(some: readonly Waiting[]): void {
    try {
      const tokens = this.tokens(some.map(({ claims }) => Buffer.from(JSON.stringify(claims))));
      some.forEach(({ claims, done }, n) => {
        const token = tokens[n] ?? '';
        this.signed(token, claims);
        done(token);
      });
    } catch (error) {
      for (const { failed } of some) failed(error);
    }
  }

  private tokens(payloads: readonly Buffer[]): readonly string[] {
    const [only] = payloads;
    if (payloads.length === 1 && only !== undefined) return [this.jws(only)];
    const batch = batchOf(payloads);
    return batch.tokens(this.jws(Buffer.from(batch.root), batchType));
  }
}
