import { counterOf, type Encoding } from './count-thread.js';
import { CountThread } from './thread.js';

interface TokenCount {
  readonly tokens: number;
  /** The encoding, with `~` before it where the model has another and this is an approximation. */
  readonly tokenizer: string;
}

/** Tokens of each text of a list. */
interface ListTokens {
  readonly counts: ArrayLike<number>;
  /** Of all of them. */
  readonly tokens: number;
  readonly tokenizer: string;
}

/** Definitions that are remembered, and characters of those: requests repeat their tools. */
const mostHeld = 20_000;
const mostCharacters = 8_000_000;

/** A longer text of one request is counted by its length: four characters a token. */
const longestCounted = 4_000_000;

/** Where so many characters wait for the thread, others are counted by their length as well. */
const mostWaiting = 16_000_000;

/** Other work of the process goes on after so many milliseconds of counting. */
const sliceMs = 8;

/** Counts tokens of tool definitions, as OpenAI’s tokenizers do. Each is loaded when it is first needed. */
export class TokenCounter {
  private readonly thread: CountThread | null;
  private readonly held: Readonly<Record<Encoding, Map<string, number>>> = { o200k: new Map(), cl100k: new Map() };
  private characters = 0;
  /** Of lists that are the same objects: requests that repeat a list share what was read of it. */
  private readonly lists: Readonly<Record<Encoding, WeakMap<object, Promise<Uint32Array>>>> = {
    o200k: new WeakMap(),
    cl100k: new WeakMap(),
  };

  /** `inThread`: in a thread of its own, so that nothing else of the process waits for it. */
  constructor({ inThread = false } = {}) {
    this.thread = inThread ? new CountThread() : null;
  }

  /**
   * Tokens of all of the texts, as the tokenizer of the model counts them or, of a model of another provider, about
   * so many.
   */
  async count(texts: readonly string[], model: string): Promise<TokenCount> {
    const { encoding, isOwn } = encodingOf(model);
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    const byLength = { tokens: Math.ceil(length / 4), tokenizer: '~length' };
    if (length > longestCounted) return byLength;
    const before = texts.map((text) => this.held[encoding].get(text));
    const missing = [...new Set(texts.filter((_, at) => before[at] === undefined))];
    const counted = new Map<string, number>();
    if (missing.length > 0) {
      if (this.thread !== null && this.thread.characters > mostWaiting) return byLength;
      const counts = await this.countsOf(encoding, missing);
      missing.forEach((text, at) => counted.set(text, counts[at] ?? 0));
      for (const [text, count] of counted) this.hold(encoding, text, count);
    }
    const tokens = texts.reduce((sum, text, at) => sum + (before[at] ?? counted.get(text) ?? 0), 0);
    return { tokens, tokenizer: isOwn ? encoding : `~${encoding}` };
  }

  /** Tokens of each definition of a list, which is counted once while it lives. */
  async countEach(list: readonly { readonly raw: string }[], model: string): Promise<ListTokens> {
    const { encoding, isOwn } = encodingOf(model);
    let counting = this.lists[encoding].get(list);
    if (counting === undefined) {
      const length = list.reduce((sum, { raw }) => sum + raw.length, 0);
      if (length > longestCounted || (this.thread?.characters ?? 0) > mostWaiting) {
        const counts = list.map(({ raw }) => Math.ceil(raw.length / 4));
        return { counts, tokens: Math.ceil(length / 4), tokenizer: '~length' };
      }
      counting = this.countsOf(
        encoding,
        list.map(({ raw }) => raw),
      );
      this.lists[encoding].set(list, counting);
      counting.catch(() => this.lists[encoding].delete(list));
    }
    const counts = await counting;
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    return { counts, tokens, tokenizer: isOwn ? encoding : `~${encoding}` };
  }

  /** Ends the thread. What it still counts fails. */
  async close(): Promise<void> {
    await this.thread?.close();
  }

  private countsOf(encoding: Encoding, texts: readonly string[]): Promise<Uint32Array> {
    return this.thread?.count(encoding, texts) ?? countInSlices(encoding, texts);
  }

  private hold(encoding: Encoding, text: string, count: number): void {
    const { o200k, cl100k } = this.held;
    if (o200k.size + cl100k.size >= mostHeld || this.characters > mostCharacters) {
      o200k.clear();
      cl100k.clear();
      this.characters = 0;
    }
    // A part of a request’s text would keep all of it.
    this.held[encoding].set(Buffer.from(text).toString(), count);
    this.characters += text.length;
  }
}

/** Counts here, while other work of the process goes on between. */
async function countInSlices(encoding: Encoding, texts: readonly string[]): Promise<Uint32Array> {
  const count = await counterOf(encoding);
  const counts = new Uint32Array(texts.length);
  let until = performance.now() + sliceMs;
  for (const [at, text] of texts.entries()) {
    counts[at] = count(text);
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = performance.now() + sliceMs;
  }
  return counts;
}

/** OpenAI’s models up to GPT-4 have cl100k, those since have o200k; of others o200k is an approximation. */
function encodingOf(model: string): { readonly encoding: Encoding; readonly isOwn: boolean } {
  const name = model.toLowerCase().split('/').at(-1) ?? '';
  if (/^(gpt-4o|gpt-4\.|chatgpt-4o|gpt-[5-9]|gpt-oss|o[1-9])/.test(name)) return { encoding: 'o200k', isOwn: true };
  if (/^(gpt-4|gpt-3\.5|gpt-35)/.test(name)) return { encoding: 'cl100k', isOwn: true };
  return { encoding: 'o200k', isOwn: false };
}
