import { ContentTooLargeError } from '@sluice/core';
import type { ContentOwner, ContentStore, Principal, StepContent } from '@sluice/core';
import { longestId, sha256 } from '@sluice/contracts';
import { findType, kindOfType, typeBytes } from './content-type.js';
import { longestContentName } from './names.js';

/** For how long a request can name an upload, milliseconds. */
const uploadLifeMs = 24 * 3_600_000;

/** A file as it comes. */
interface SentFile {
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
  /** What its sender says that it is; null where that says nothing. */
  readonly type: string | null;
  /** Of the file; null for none. */
  readonly name: string | null;
}

/** A part of a question: content that the store has, by its hash, or a file that comes with the request. */
export type QuestionPart = { readonly hash: string; readonly name: string | null } | SentFile;

/** Why a file, or the name of one, is not taken; the message says what to change. */
export class QuestionContentError extends Error {
  override readonly name = 'QuestionContentError';
  constructor(
    readonly problem: 'invalid' | 'unknown' | 'too_large',
    message: string,
  ) {
    super(message);
  }
}

/** Where the uploads of a caller lie: the name is longer than a run's id can be, so no run reads them as its own. */
export function uploadsOf({ tenantId, actorId, subjectId }: Principal): ContentOwner {
  const owner = sha256(JSON.stringify([actorId, subjectId]));
  return { tenantId, runId: `uploads-${owner}`.padEnd(longestId + 1, '-') };
}

/** When an upload of now is over, milliseconds since the epoch. */
export function uploadExpiry(now: number): number {
  return now + uploadLifeMs;
}

/**
 * Writes a file to the store, under the type that its bytes say, and returns its name for a request. Throws
 * QuestionContentError, and what the store throws.
 */
export async function keepFile(
  store: Pick<ContentStore, 'put'>,
  owner: ContentOwner,
  { bytes, type, name }: SentFile,
  expiresAt: number | null,
): Promise<StepContent> {
  if (name !== null && (name.length > longestContentName || !name.isWellFormed()))
    throw new QuestionContentError(
      'invalid',
      `A file's name has at most ${longestContentName} characters of well-formed text.`,
    );
  const called = name === null ? 'The file' : `The file ${JSON.stringify(name)}`;
  const [head, whole] = await begun(bytes);
  if (head.length === 0) throw new QuestionContentError('invalid', `${called} is empty.`);
  const found = findType(head, type, name);
  if (!found.ok) throw new QuestionContentError('invalid', `${called} ${found.why}`);
  try {
    const kept = await store.put(owner, found.type, whole, expiresAt);
    return { ...kept, kind: kindOfType(kept.type), name };
  } catch (error) {
    if (!(error instanceof ContentTooLargeError)) throw error;
    throw new QuestionContentError('too_large', `${called} has more than ${error.limit} bytes, which is the limit.`);
  }
}

/**
 * The names of a question's parts for its record, in their order. Files that come with it become uploads of the caller
 * first: nothing is written for the run before its request is known to be one. What the run has is taken before an
 * upload, so that a request that is sent again is the same one when its uploads are over. Throws QuestionContentError.
 */
export async function nameParts(
  store: Pick<ContentStore, 'put' | 'open'>,
  principal: Principal,
  run: ContentOwner,
  parts: readonly QuestionPart[],
  now: number,
): Promise<readonly StepContent[]> {
  const names: StepContent[] = [];
  for (const [place, part] of parts.entries()) {
    if ('bytes' in part) names.push(await keepFile(store, uploadsOf(principal), part, uploadExpiry(now)));
    else {
      const there = (await store.open(run, part.hash)) ?? (await store.open(uploadsOf(principal), part.hash));
      if (there === undefined) throw unknownUpload(place);
      const { hash, type, size } = there;
      names.push({ hash, type, size, kind: kindOfType(type), name: part.name });
    }
  }
  return names;
}

/**
 * Copies what the names mean from the caller's uploads to its run, where it is not there yet, and returns the names as
 * the run has them: a new key of the store gives new hashes. Throws QuestionContentError.
 */
export async function claimUploads(
  store: Pick<ContentStore, 'put' | 'open'>,
  principal: Principal,
  run: ContentOwner,
  content: readonly StepContent[],
  expiresAt: number | null,
): Promise<readonly StepContent[]> {
  const claimed: StepContent[] = [];
  for (const [place, name] of content.entries()) {
    const { hash, type } = name;
    if ((await store.open(run, hash)) !== undefined) claimed.push(name);
    else {
      const upload = await store.open(uploadsOf(principal), hash);
      if (upload === undefined) throw unknownUpload(place);
      claimed.push({ ...name, ...(await store.put(run, type, upload.bytes(), expiresAt)) });
    }
  }
  return claimed;
}

function unknownUpload(place: number): QuestionContentError {
  const message = `content[${place}] names no upload of yours, or one that is over: an upload is kept for a day. Upload the file again.`;
  return new QuestionContentError('unknown', message);
}

/** The first bytes, and all of them. */
async function begun(bytes: SentFile['bytes']): Promise<readonly [Uint8Array, SentFile['bytes']]> {
  if (bytes instanceof Uint8Array) return [bytes.subarray(0, typeBytes), bytes];
  const pieces = bytes[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < typeBytes) {
    const next = await pieces.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
  }
  const head = Buffer.concat(first);
  return [head.subarray(0, typeBytes), joined(head, pieces)];
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
