import { createHmac, hash, randomBytes } from 'node:crypto';
import type { Documents } from '@sluice/core';
import { inTime, type SessionOwner } from '@sluice/discovery';
import type { SecretSealer } from '@sluice/identity';
import { isCredential } from '@sluice/proxy';
import type { ClientRequest } from './client-request.js';
import type { KnownCaller } from './rights.js';

const keyName = 'discovery-credential-key';

/**
 * The owner of a conversation. Without an identity it is the credential for the provider: callers with different keys
 * share nothing. Of the credential a hash is kept, under a key that the ledger’s database holds for all instances.
 */
export class CredentialOwner {
  private key: Promise<Buffer> | null = null;
  /** Owners by plain hashes of their credentials, which no one but this process has. */
  private readonly known = new Map<string, string>();

  constructor(
    private readonly documents: Documents,
    private readonly sealer: SecretSealer | null,
    private readonly warn: (details: Readonly<Record<string, unknown>>, message: string) => void,
  ) {}

  async of(request: ClientRequest, caller: KnownCaller | null): Promise<SessionOwner> {
    if (caller !== null) return { tenantId: caller.principal.tenantId, userId: caller.principal.actorId };
    const credential = credentialIn(request);
    const hash = credential === '' ? 'none' : await this.hash(credential);
    return { tenantId: 'local', userId: `key:${hash}` };
  }

  private async hash(credential: string): Promise<string> {
    const short = hash('sha256', credential, 'base64');
    const before = this.known.get(short);
    if (before !== undefined) return before;
    const key = await this.sharedKey();
    const made = createHmac('sha256', key).update(credential).digest('hex').slice(0, 32);
    if (this.known.size >= mostKnown) this.known.clear();
    if (key !== own) this.known.set(short, made);
    return made;
  }

  /**
   * While the database does not answer, a key of this process alone: conversations are then kept apart, and not found
   * later.
   */
  private async sharedKey(): Promise<Buffer> {
    this.key ??= this.read();
    try {
      return await inTime(this.key);
    } catch (error) {
      this.key = null;
      this.warn({ error: (error as Error).message }, 'the key for hashes of credentials could not be read');
      return own;
    }
  }

  private async read(): Promise<Buffer> {
    const { documents, sealer } = this;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const stored = await documents.find(keyName);
      const text =
        stored === undefined ? null : sealer === null ? stored.text : await sealer.open(stored.text, keyName);
      if (text !== null && /^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex');
      // There is none, or it was sealed with a key that was removed since: conversations start over.
      const made = randomBytes(32);
      const written = made.toString('hex');
      const kept = sealer === null ? written : await sealer.seal(written, keyName);
      if (await documents.put(keyName, (stored?.version ?? 0) + 1, kept, null)) return made;
    }
    throw new Error('Another process wrote it each time.');
  }
}

const attempts = 5;
const mostKnown = 1_000;
const own = randomBytes(32);

/**
 * All that a client proves itself with. Of a request that AWS’s libraries sign, each with another signature, who
 * signed it.
 */
function credentialIn({ headers, target }: ClientRequest): string {
  const parts: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at]?.toLowerCase(), headers[at + 1]];
    if (!isCredential(name) || name === 'x-amz-security-token') continue;
    const signer = /^AWS4-HMAC-SHA256\s.*?Credential=([^/,\s]+)/.exec(value)?.[1];
    parts.push(`${name}:${signer ?? value}`);
  }
  const [, query = ''] = target.split('?');
  for (const pair of query.split('&')) if (pair.startsWith('key=')) parts.push(pair);
  return parts.sort().join('\n');
}
