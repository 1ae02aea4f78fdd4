import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from 'node:zlib';
import type { UnreadReason } from '@sluice/discovery';
import { type RawHeaders, valuesOf } from '@sluice/proxy';

interface Coding {
  /** For a stream. */
  create(): Transform;
  /** For a whole body; rejects where it is longer than the limit. Runs off the event loop. */
  open(body: Buffer, limit: { readonly maxOutputLength: number }): Promise<Buffer>;
}

const gzip: Coding = { create: createGunzip, open: promisify(gunzip) };

/** Content codings that are read, by their names in the header. */
const codings: ReadonlyMap<string, Coding> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { create: createInflate, open: promisify(inflate) }],
  ['br', { create: createBrotliDecompress, open: promisify(brotliDecompress) }],
  ['zstd', { create: createZstdDecompress, open: promisify(zstdDecompress) }],
]);

/** Codings of one body; a client has no reason for more. */
const mostCodings = 2;

function namesIn(headers: RawHeaders): readonly string[] {
  return valuesOf(headers, 'content-encoding')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
}

/** What makes an answer’s bytes plain; null where they are, or where the coding is not known. */
export function decompressor({ headers }: { readonly headers: RawHeaders }): Transform | null {
  const [name = '', ...more] = namesIn(headers);
  return more.length > 0 ? null : (codings.get(name)?.create() ?? null);
}

/** The body without its content codings, or why there is none. A limit holds for what each of them gives. */
export async function plainBody(headers: RawHeaders, body: Buffer, limit: number): Promise<Buffer | UnreadReason> {
  const names = namesIn(headers).toReversed();
  const used = names.map((name) => codings.get(name));
  if (names.length > mostCodings) return 'unknown_encoding';
  let plain = body;
  for (const coding of used) {
    if (coding === undefined) return 'unknown_encoding';
    try {
      plain = await coding.open(plain, { maxOutputLength: limit });
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'bad_encoding';
    }
  }
  return plain;
}
