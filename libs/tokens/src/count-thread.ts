// Also runs in a thread of its own. It imports nothing of this code base, so that Node can run it from its source.
import { hash } from 'node:crypto';
import { setPriority } from 'node:os';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

/** What counts the tokens of a text. */
export type Encoding = 'o200k' | 'cl100k';

/** Texts, one behind the other: so many of them take longer to be sent one by one. */
export interface CountTask {
  readonly encoding: Encoding;
  readonly text: string;
  /** The characters of each. */
  readonly lengths: Uint32Array;
}

/** How many tokens each text has, in order; or why they could not be counted. */
export type CountReply = Uint32Array | string;

/** What the thread is started with: another thread that loads this file does not answer. */
export const countsHere = 'sluice-tokens';

/** An unbroken run of characters takes time by its square, so that it is cut after so many. */
const longestRun = 128;

/**
 * The text with a blank behind each run of so many characters. A run is looked for from its end: most of a text is
 * not looked at.
 */
function withBreaks(text: string): string {
  let broken = '';
  let copied = 0;
  for (let start = 0; start + longestRun <= text.length;) {
    const end = start + longestRun;
    let at = end - 1;
    while (at >= start && !isSpace(text.charCodeAt(at))) at--;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    broken += `${text.slice(copied, end)} `;
    start = copied = end;
  }
  return copied === 0 ? text : broken + text.slice(copied);
}

function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code > 8 && code < 14);
  return /\s/.test(String.fromCharCode(code));
}

type Count = (text: string) => number;

/** Words that are no token as a whole, and what they are made of, so many are remembered. */
const mostMerged = 10_000;

async function load(encoding: Encoding): Promise<Count> {
  const { countTokens, setMergeCacheSize } =
    encoding === 'o200k'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base');
  setMergeCacheSize(mostMerged);
  // A definition may hold the text of a special token, which counts as any other.
  return (text) => countTokens(withBreaks(text), { disallowedSpecial: new Set() });
}

const counters = new Map<Encoding, Promise<Count>>();

/** Counts by an encoding, which is loaded when it is first needed. */
export function counterOf(encoding: Encoding): Promise<Count> {
  let counter = counters.get(encoding);
  if (counter === undefined) {
    counter = load(encoding);
    counters.set(encoding, counter);
    counter.catch(() => counters.delete(encoding));
  }
  return counter;
}

/** Counts that are remembered, by hashes of their texts: lists share most of their tools. */
const mostHeld = 20_000;
const held: Readonly<Record<Encoding, Map<string, number>>> = { o200k: new Map(), cl100k: new Map() };

async function answer({ encoding, text, lengths }: CountTask): Promise<CountReply> {
  try {
    const count = await counterOf(encoding);
    const known = held[encoding];
    let at = 0;
    return lengths.map((length) => {
      const one = text.slice(at, (at += length));
      const key = hash('sha1', one, 'base64');
      const before = known.get(key);
      if (before !== undefined) return before;
      if (known.size >= mostHeld) known.clear();
      const tokens = count(one);
      known.set(key, tokens);
      return tokens;
    });
  } catch (error) {
    return (error as Error).message;
  }
}

/** Requests come first. Only on Linux a thread has a priority of its own. */
function stepBack(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(behindOthers);
  } catch {
    // A sandbox may not allow it; then it counts beside the others.
  }
}

const behindOthers = 5;

if (!isMainThread && workerData === countsHere) {
  stepBack();
  // One after the other, in the order in which they came.
  let last: Promise<unknown> = Promise.resolve();
  parentPort?.on('message', (task: CountTask) => {
    last = last.then(async () => parentPort?.postMessage(await answer(task)));
  });
}
