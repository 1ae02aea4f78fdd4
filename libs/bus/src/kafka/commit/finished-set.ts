import { maxCarriedBytes } from '../../port.js';

/** The largest metadata of an offset, bytes: a broker’s default. One more fails the transaction. */
export const metadataLimit = 4_096;

/** How long the name of a consumer’s writer is. */
export const writerLength = 12;

const payloadLimit = Math.floor(((metadataLimit - 1 - (1 + writerLength)) * 3) / 4);
const bitmapMark = 'b';
const runsMark = 'r';
/** Before what the partition carries; no character of base64. */
const carriedMark = '.';
/**
 * Before its writer. It ends what base64 decodes: so versions that know no writer read what stands before it, and
 * nothing else.
 */
const writerMark = '=';

/** What precedes a writer; for a short time it was another character. */
const writerMarks = /[=~]/;
const marks = /[.=~]/;

/** Offsets from `first` up to, but without, `past`. */
export interface Range {
  readonly first: number;
  readonly past: number;
}

/**
 * What is finished beyond the prefix, as text for the offset’s metadata: the shorter of a bitmap and of run lengths
 * (unfinished, finished, unfinished, …), in base64. `ranges` rise and do not touch. '' if there are none.
 */
export function encodeFinished(prefix: number, ranges: readonly Range[]): string {
  const last = ranges.at(-1);
  if (last === undefined) return '';
  const runs = runsOf(prefix, ranges);
  const bitmapBytes = Math.ceil((last.past - prefix) / 8);
  if (runs.length <= bitmapBytes) return runsMark + Buffer.from(runs).toString('base64url');
  const bitmap = Buffer.alloc(bitmapBytes);
  for (const { first, past } of ranges) {
    for (let bit = first - prefix; bit < past - prefix; bit++)
      bitmap[bit >> 3] = (bitmap[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bitmapMark + bitmap.toString('base64url');
}

/** The ranges again; none for a text that another program put there. */
export function decodeFinished(prefix: number, metadata: string | null): readonly Range[] {
  if (metadata === null) return [];
  const [finished = ''] = metadata.split(marks, 1);
  const bytes = Buffer.from(finished.slice(1), 'base64url');
  if (finished.startsWith(runsMark)) return fromRuns(prefix, bytes);
  if (finished.startsWith(bitmapMark)) return fromBitmap(prefix, bytes);
  return [];
}

/** What the partition carries, as it stands behind the finished set in the offset’s metadata. */
export function encodeCarried(carried: string): string {
  return carried === '' ? '' : carriedMark + Buffer.from(carried).toString('base64url');
}

/** The text again; '' if none is there. */
export function decodeCarried(metadata: string | null): string {
  const [rest = ''] = (metadata ?? '').split(writerMarks, 1);
  const at = rest.indexOf(carriedMark);
  return at < 0 ? '' : Buffer.from(rest.slice(at + 1), 'base64url').toString('utf8');
}

/** Whose transactions move the offset, as it stands at the end of the offset’s metadata. */
export function encodeWriter(writer: string): string {
  return writerMark + writer;
}

/** The name again; undefined if none is there, as while no consumer has acquired the partition yet. */
export function decodeWriter(metadata: string | null): string | undefined {
  return metadata?.split(writerMarks)[1];
}

/** Bytes of the metadata that a finished set cannot have where the partition carries something. */
export const reservedForCarried = 1 + Math.ceil((maxCarriedBytes * 4) / 3);

/**
 * Whether the metadata is within the limit whatever finishes first, if `unfinished` records are taken whose offsets
 * lie in the `span` offsets from the prefix on: each of them can be a run of its own, and no more than one.
 * `reserved` bytes are for others.
 */
export function isWithinLimit(span: number, unfinished: number, reserved = 0): boolean {
  const limit = payloadLimit - Math.ceil((reserved * 3) / 4);
  return Math.ceil(span / 8) <= limit || 2 * unfinished * varintBytes(span) <= limit;
}

function runsOf(prefix: number, ranges: readonly Range[]): readonly number[] {
  const bytes: number[] = [];
  let at = prefix;
  for (const { first, past } of ranges) {
    pushVarint(bytes, first - at);
    pushVarint(bytes, past - first);
    at = past;
  }
  return bytes;
}

function fromRuns(prefix: number, bytes: Uint8Array): readonly Range[] {
  const ranges: Range[] = [];
  let at = prefix;
  let value = 0;
  let scale = 1;
  let unfinished: number | undefined;
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte >= 0x80) continue;
    if (unfinished === undefined) unfinished = value;
    else {
      const first = at + unfinished;
      at = first + value;
      ranges.push({ first, past: at });
      unfinished = undefined;
    }
    value = 0;
    scale = 1;
  }
  return ranges;
}

function fromBitmap(prefix: number, bitmap: Uint8Array): readonly Range[] {
  const ranges: Range[] = [];
  let first: number | undefined;
  for (let bit = 0; bit <= bitmap.length * 8; bit++) {
    const finished = ((bitmap[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
    if (finished) first ??= prefix + bit;
    else if (first !== undefined) {
      ranges.push({ first, past: prefix + bit });
      first = undefined;
    }
  }
  return ranges;
}

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}
