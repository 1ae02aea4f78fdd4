import { Fault } from '@sluice/core';
import type { Authentication, Documents } from '@sluice/core';
import { refused } from '../credentials/refused.js';
import { apiKeyParts, hashOf, isSecretOf, newApiKey } from './format.js';
import { LastUses } from './last-uses.js';

/** A key as the ledger has it: its hash, and never the key. */
export interface ApiKey {
  readonly id: string;
  /** Who asks with it is `service:<name>`. A key and the one that replaces it have the same name. */
  readonly name: string;
  readonly tenant: string;
  readonly groups: readonly string[];
  readonly connections: readonly string[];
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  /** The key that it replaces. */
  readonly replaces: string | null;
}

type Stored = ApiKey & { readonly hash: string };

/** What a new key is for. */
type KeyScope = Pick<ApiKey, 'name' | 'tenant' | 'groups' | 'connections' | 'expiresAt'>;

/** Keys that there may be at a time; all of their ids stand in one document. */
const mostKeys = 10_000;
/** How long a key is listed after its end. */
const listedMs = 30 * 24 * 3_600_000;
/** Writers of the list that may be ahead of one, each time. */
const tries = 20;

const list = 'api-keys';
const documentOf = (id: string): string => `api-key/${id}`;

/**
 * API keys in the ledger’s database, for every process at once: each credential is looked up, so a revoked key ends
 * with the next request.
 */
export class ApiKeys {
  private readonly uses: LastUses;

  constructor(private readonly documents: Documents) {
    this.uses = new LastUses(documents);
  }

  /**
   * Who asks with the key. `at`, when the log took the request, decides whether it had expired; a revoked one is
   * refused whenever that was.
   */
  async verify(token: string, at: number): Promise<Authentication> {
    const parts = apiKeyParts(token);
    const found = parts === null ? null : await this.find(parts.id);
    if (parts === null || found === null || !isSecretOf(parts.secret, found.key.hash))
      return refused('there is no such API key');
    const { id, tenant, name, groups, connections, expiresAt, revokedAt } = found.key;
    if (revokedAt !== null) return { ...refused('the API key was revoked'), revoked: tenant };
    if (expiresAt <= at) return refused('the API key had expired when the log took the request');
    this.uses.note(id, at);
    return {
      ok: true,
      principal: { actorId: `service:${name}`, tenantId: tenant, subjectId: null, groups, connections },
      expiresAt,
    };
  }

  /** A new key, whose token is to be had from here and never again. */
  async create(scope: KeyScope, now: number, replaces: string | null = null): Promise<{ key: ApiKey; token: string }> {
    const { id, secret, token } = newApiKey();
    const key = { id, ...scope, createdAt: now, revokedAt: null, replaces };
    await this.put({ ...key, hash: hashOf(secret) }, 1);
    await this.enlist(id);
    return { key, token };
  }

  /** All keys, the newest first, each with when it was last used as far as that was written. */
  async list(): Promise<readonly (ApiKey & { readonly lastUsedAt: number | null })[]> {
    const found = await Promise.all((await this.ids()).ids.map((id) => this.find(id)));
    const keys = found.flatMap((one) => (one === null ? [] : [one.key]));
    const used = await Promise.all(keys.map(({ id }) => this.uses.of(id)));
    return keys
      .map(({ hash: _hash, ...key }, place) => ({ ...key, lastUsedAt: used[place] ?? null }))
      .sort((one, other) => other.createdAt - one.createdAt);
  }

  /** Ends a key at once. False if it was revoked before. Throws an Error if there is none. */
  async revoke(id: string, now: number): Promise<boolean> {
    return this.change(id, (key) => (key.revokedAt === null ? { ...key, revokedAt: now } : null));
  }

  /**
   * A key in place of this one, for the same caller and as long a time; this one ends after the overlap at the
   * latest.
   */
  async rotate(id: string, overlapMs: number, now: number): Promise<{ key: ApiKey; token: string }> {
    const before = (await this.find(id))?.key;
    if (before === undefined) throw unknown(id);
    if (before.revokedAt !== null)
      throw new Error(`The API key ${id} was revoked. Make a new one with \`sluice keys api new\`.`);
    const { name, tenant, groups, connections, createdAt, expiresAt } = before;
    const scope = { name, tenant, groups, connections, expiresAt: now + (expiresAt - createdAt) };
    const made = await this.create(scope, now, id);
    const until = now + overlapMs;
    await this.change(id, (key) => (key.expiresAt > until ? { ...key, expiresAt: until } : null));
    return made;
  }

  private async find(id: string): Promise<{ readonly key: Stored; readonly version: number } | null> {
    const stored = await this.documents.find(documentOf(id));
    return stored === undefined ? null : { key: JSON.parse(stored.text) as Stored, version: stored.version };
  }

  private put(key: Stored, version: number): Promise<boolean> {
    return this.documents.put(documentOf(key.id), version, JSON.stringify(key), key.expiresAt + listedMs);
  }

  /** False if there was nothing to change. */
  private async change(id: string, change: (key: Stored) => Stored | null): Promise<boolean> {
    for (let count = 0; count < tries; count++) {
      const found = await this.find(id);
      if (found === null) throw unknown(id);
      const changed = change(found.key);
      if (changed === null) return false;
      if (await this.put(changed, found.version + 1)) return true;
    }
    throw tooMany();
  }

  private async ids(): Promise<{ readonly ids: readonly string[]; readonly version: number }> {
    const stored = await this.documents.find(list);
    if (stored === undefined) return { ids: [], version: 0 };
    return { ids: JSON.parse(stored.text) as readonly string[], version: stored.version };
  }

  /** Ids whose keys are gone are let go with it. */
  private async enlist(id: string): Promise<void> {
    for (let count = 0; count < tries; count++) {
      const { ids, version } = await this.ids();
      const there = await Promise.all(
        ids.map(async (one) => (await this.documents.find(documentOf(one))) !== undefined),
      );
      const kept = ids.filter((_, place) => there[place]);
      if (kept.length >= mostKeys)
        throw new Error(`There are ${mostKeys} API keys, which is the most. Revoked ones go after 30 days.`);
      if (await this.documents.put(list, version + 1, JSON.stringify([...kept, id]), null)) return;
    }
    throw tooMany();
  }
}

function unknown(id: string): Error {
  return new Error(`There is no API key ${id}. \`sluice keys api list\` shows them.`);
}

function tooMany(): Fault {
  return new Fault('ledger_unreachable', 'Other processes change the API keys at this moment. Try again.', true);
}
