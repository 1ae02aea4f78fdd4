import { Fault, inputsOf } from '@sluice/core';
import type { ContentOwner, ContentStore, GivenContent, ModelSettings, StepContent } from '@sluice/core';
import { imageIn } from './image.js';
import { isPdf, mostCharacters, type ContentPlan } from './plan.js';

/** The text of a file, or why there is none. */
type ReadText = (
  file: { readonly bytes: Uint8Array; readonly type: string; readonly name: string | null },
  limits: { readonly characters: number },
  signal: AbortSignal,
) => Promise<
  | { readonly ok: true; readonly text: string; readonly characters: number }
  | { readonly ok: false; readonly why: string }
>;

interface Loading {
  readonly owner: ContentOwner;
  readonly store: Pick<ContentStore, 'open'>;
  readonly textOf: ReadText;
  readonly signal: AbortSignal;
  /** Of content that could not be read, with the store’s fault: the model is shown a sentence without it. */
  readonly onFault: (content: StepContent, error: Error) => void;
}

interface Timed extends Loading {
  /** When the store has had its time, by `performance.now`. */
  readonly until: number;
}

/** Pixels that an image’s side may have at Anthropic. */
const longestSide = 8_000;

/** How long a turn waits for the store, milliseconds, whatever number of pieces it reads. */
const mostMs = 15_000;

/** The bytes and texts that are planned, out of the content store. Throws the signal’s reason alone. */
export async function loadContent(
  plan: ContentPlan,
  settings: ModelSettings,
  loading: Loading,
): Promise<ReadonlyMap<string, GivenContent>> {
  const given = new Map<string, GivenContent>();
  const until = performance.now() + mostMs;
  for (const [hash, piece] of plan) {
    loading.signal.throwIfAborted();
    const { content, ...planned } = piece;
    given.set(
      hash,
      planned.kind === 'note' ? planned : await loaded(content, planned.kind, settings, { ...loading, until }),
    );
  }
  return given;
}

async function loaded(
  content: StepContent,
  kind: 'media' | 'text',
  settings: ModelSettings,
  loading: Timed,
): Promise<GivenContent> {
  const { signal, until, onFault } = loading;
  try {
    const bytes = await inTime(bytesOf(content, loading), until, signal);
    if (bytes === null) return noteOf('content gone: it is no longer kept');
    return await (kind === 'media' ? mediaOf(content, bytes, settings, loading) : textIn(content, bytes, loading));
  } catch (error) {
    signal.throwIfAborted();
    onFault(content, error as Error);
    const isDamaged = error instanceof Fault && error.code === 'content_corrupt';
    return noteOf(isDamaged ? 'not shown: it is damaged' : 'not shown: it cannot be read now');
  }
}

/** Null where the run does not have it, or has it no longer. The store checks the hash. */
async function bytesOf({ hash, size }: StepContent, { store, owner, signal }: Loading): Promise<Buffer | null> {
  const found = await store.open(owner, hash);
  if (found === undefined) return null;
  // What a caller wrote into its own history says nothing about what the store has.
  if (found.size > size) throw new Error(`It has ${found.size} bytes, and its name says ${size}.`);
  const pieces: Uint8Array[] = [];
  for await (const bytes of found.bytes()) {
    signal.throwIfAborted();
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}

/** By what the bytes are, whatever the name says. */
async function mediaOf(
  content: StepContent,
  bytes: Buffer,
  settings: ModelSettings,
  loading: Loading,
): Promise<GivenContent> {
  if (isPdf(content)) {
    const isReadable = bytes.subarray(0, 1_024).includes('%PDF-') && !bytes.includes('/Encrypt');
    if (!isReadable) return textIn(content, bytes, loading);
    return { kind: 'media', mediaType: 'application/pdf', data: bytes.toString('base64') };
  }
  const image = imageIn(bytes);
  if (image === null) return noteOf('not shown: it is no PNG, JPEG, GIF or WebP');
  if (!inputsOf(settings).includes('image')) return noteOf('not shown: this model reads no images');
  const { type, width, height } = image;
  if (Math.max(width, height) > longestSide)
    return noteOf(`not shown: it has ${width} × ${height} pixels, and a model takes ${longestSide} a side`);
  return { kind: 'media', mediaType: type, data: bytes.toString('base64') };
}

async function textIn(content: StepContent, bytes: Buffer, { textOf, signal }: Loading): Promise<GivenContent> {
  const { type, name } = content;
  const read = await textOf({ bytes, type, name: fileName(name) }, { characters: mostCharacters }, signal);
  if (!read.ok) return noteOf(`not shown: ${read.why}`);
  const { text, characters } = read;
  const isCut = text.length < characters;
  return { kind: 'text', text, ...(isCut ? { note: `the first ${text.length} of ${characters} characters` } : {}) };
}

/** The last part of a resource’s address, which says more of its format than the whole. */
function fileName(name: string | null): string | null {
  const last = name?.split(/[/\\]/).at(-1) ?? '';
  return /\.[A-Za-z0-9]{1,8}$/.test(last) ? last : null;
}

function noteOf(note: string): GivenContent {
  return { kind: 'note', note };
}

/** The work’s result; rejects where it takes too long, and with the signal’s reason where that aborts. */
async function inTime<T>(work: Promise<T>, until: number, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    const tooSlow = (): void => reject(new Error(`The content store took longer than ${mostMs / 1_000} s.`));
    timer = setTimeout(tooSlow, Math.max(0, until - performance.now()));
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
