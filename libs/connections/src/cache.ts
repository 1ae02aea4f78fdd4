import type { ConnectionSettings, ConnectionUse, Credential } from '@sluice/core';

/** Credentials that are kept at one time; the longest unused goes first. */
const mostKept = 10_000;

/** Credentials of those for whom they were given, as long as they live. */
export class CredentialCache {
  private readonly kept = new Map<string, Credential>();

  find(key: string, now: number): Credential | undefined {
    const found = this.kept.get(key);
    if (found === undefined) return undefined;
    this.kept.delete(key);
    if (found.expiresAt === null || found.expiresAt <= now) return undefined;
    this.kept.set(key, found);
    return found;
  }

  keep(key: string, credential: Credential): void {
    if (credential.expiresAt === null) return;
    this.kept.delete(key);
    this.kept.set(key, credential);
    const oldest = this.kept.keys().next().value;
    if (this.kept.size > mostKept && oldest !== undefined) this.kept.delete(oldest);
  }

  forget(key: string): void {
    this.kept.delete(key);
  }
}

/**
 * Whose credential it is: tenant, actor, subject and the connection as it is set up, so that no caller gets
 * another's, and another configuration another one. No name can be written so that two keys meet.
 */
export function keyOf(settings: ConnectionSettings, { tenantId, actorId, subjectId }: ConnectionUse): string {
  return JSON.stringify([tenantId, actorId, subjectId, settings]);
}
