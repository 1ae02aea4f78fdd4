import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { readContentKeys } from '@sluice/content';
import { subscriptionsDocument } from '@sluice/core';
import type { CountedDocuments, StoredDocument } from '@sluice/core';
import { isCallerForm, isClientCall } from '@sluice/run';
import type { Environment } from './environment.js';

type ContentKey = ReturnType<typeof readContentKeys>[number];

interface Sealing {
  /** As SLUICE_CONTENT_KEYS has them: the first seals, all open; null for none. */
  readonly keys: string | null;
  /** Which documents are sealed. */
  readonly isPrivate: (key: string) => boolean;
  /** Called with the key of a document that none of the keys opens. */
  readonly onClosed: (key: string) => void;
}

/** What stands in front of a sealed text: no JSON begins so. */
const mark = 'sealed:';
const algorithm = 'aes-256-gcm';
const saltBytes = 16;
const tagBytes = 16;
/** Each text has a key of its own. */
const nonce = Buffer.alloc(12);

/**
 * The documents, of which private ones are sealed where there are keys. One that no key opens is as empty (`null`) to
 * its reader; one that was written before there were keys is read as it is.
 */
export function sealedDocuments(documents: CountedDocuments, { keys, isPrivate, onClosed }: Sealing): CountedDocuments {
  const known = keys === null ? [] : readContentKeys(keys);
  const [sealing] = known;
  const opened = (key: string, { text, ...about }: StoredDocument): StoredDocument => {
    if (!text.startsWith(mark)) return { ...about, text };
    const plain = openedText(text, key, known);
    if (plain === null) onClosed(key);
    return { ...about, text: plain ?? 'null' };
  };
  return {
    find: async (key) => {
      const found = await documents.find(key);
      return found === undefined || !isPrivate(key) ? found : opened(key, found);
    },
    put: (key, version, text, expiresAt) => {
      const isSealed = sealing !== undefined && isPrivate(key);
      return documents.put(key, version, isSealed ? sealedText(text, key, sealing) : text, expiresAt);
    },
    tally: (prefix, now, first) => documents.tally(prefix, now, first),
    sweep: (now) => documents.sweep(now),
  };
}

/** The documents of a ledger: those with answers of callers or with secrets are sealed by the content keys. */
export function privateDocuments(
  documents: CountedDocuments,
  { content }: Pick<Environment, 'content'>,
  onClosed: Sealing['onClosed'],
): CountedDocuments {
  return sealedDocuments(documents, {
    keys: content?.keys() ?? null,
    isPrivate: (key) => isCallerForm(key) || isClientCall(key) || key === subscriptionsDocument,
    onClosed,
  });
}

function sealedText(text: string, key: string, { id, bytes }: ContentKey): string {
  const salt = randomBytes(saltBytes);
  const cipher = createCipheriv(algorithm, keyFor(bytes, salt, key), nonce);
  const sealed = Buffer.concat([salt, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${mark}${id}:${sealed.toString('base64')}`;
}

function openedText(text: string, key: string, keys: readonly ContentKey[]): string | null {
  const [, id, sealed = ''] = text.split(':');
  const bytes = Buffer.from(sealed, 'base64');
  const own = keys.find((one) => one.id === id);
  if (own === undefined || bytes.length < saltBytes + tagBytes) return null;
  const decipher = createDecipheriv(algorithm, keyFor(own.bytes, bytes.subarray(0, saltBytes), key), nonce);
  decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
  try {
    const plain = decipher.update(bytes.subarray(saltBytes, bytes.length - tagBytes));
    return Buffer.concat([plain, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** Of one text under one key of the store: in another place it does not open. */
function keyFor(bytes: Buffer, salt: Buffer, key: string): Buffer {
  const name = createHash('sha256').update(key).digest('hex');
  return Buffer.from(hkdfSync('sha256', bytes, salt, `sluice document ${name}`, 32));
}
