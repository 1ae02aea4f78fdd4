import { createHash, createHmac, hkdfSync } from 'node:crypto';

/** 32 bytes, and what heads call them. */
export interface ContentKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The id of a store's own key, which hashes and never seals. */
export const ownKeyId = 'own';

/**
 * Keys of 32 bytes, one a line, in base64 or hexadecimal: the first seals, all open. Throws a sentence for anything
 * else, without what it was given.
 */
export function readContentKeys(text: string): readonly ContentKey[] {
  const lines = text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const keys = lines.map(keyIn);
  if (keys.length > 0 && keys.every((key) => key !== null)) return keys;
  throw new Error(
    'Content keys must be keys of 32 bytes, one a line, in base64 or hexadecimal. Make one with `openssl rand -base64 32`.',
  );
}

function keyIn(line: string): ContentKey | null {
  const bytes = /^[0-9a-f]{64}$/i.test(line) ? Buffer.from(line, 'hex') : Buffer.from(line, 'base64');
  if (bytes.length !== 32 || !/^[\w+/=-]+$/.test(line)) return null;
  return { id: createHash('sha256').update('sluice content key\0').update(bytes).digest('hex').slice(0, 16), bytes };
}

/** Hashes a tenant's content. Without the key, content cannot be compared with a guess, nor with another tenant's. */
export function tenantHasher({ bytes }: ContentKey, tenantId: string) {
  const own = createHmac('sha256', bytes).update('sluice content hash\0').update(JSON.stringify(tenantId)).digest();
  return createHmac('sha256', own);
}

/** The key that seals one piece of content of one run, and nothing else: so counters serve as nonces. */
export function sealingKey({ bytes }: ContentKey, salt: Buffer, owner: string): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, salt, `sluice content ${owner}`, 32));
}
