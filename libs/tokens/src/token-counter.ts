/** What counts the tokens of a text. */
type Encoding = 'o200k' | 'cl100k';

interface TokenCount {
  readonly tokens: number;
  /** The encoding, with `~` before it where the model has another and this is an approximation. */
  readonly tokenizer: string;
}

/** Definitions that are remembered, and characters of those: requests repeat their tools. */
const mostHeld = 20_000;
const mostCharacters = 32_000_000;

/** A longer text of one request is counted by its length: four characters a token. */
const longestCounted = 4_000_000;

/** An unbroken run of characters takes time by its square, so that it is cut after so many. */
const longestRun = 128;

/** Other work of the process goes on after so many milliseconds of counting. */
const sliceMs = 8;

type Count = (text: string) => number;

/** Counts tokens of tool definitions, as OpenAI’s tokenizers do. Each is loaded when it is first needed. */
export class TokenCounter {
  private readonly counters = new Map<Encoding, Promise<Count>>();
  private readonly held: Readonly<Record<Encoding, Map<string, number>>> = { o200k: new Map(), cl100k: new Map() };
  private characters = 0;

  /**
   * Tokens of all of the texts, as the tokenizer of the model counts them or, of a model of another provider, about
   * so many.
   */
  async count(texts: readonly string[], model: string): Promise<TokenCount> {
    const { encoding, isOwn } = encodingOf(model);
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    if (length > longestCounted) return { tokens: Math.ceil(length / 4), tokenizer: '~length' };
    const count = await this.counter(encoding);
    let tokens = 0;
    let until = performance.now() + sliceMs;
    for (const text of texts) {
      tokens += this.one(encoding, text, count);
      if (performance.now() < until) continue;
      await new Promise((resolve) => setImmediate(resolve));
      until = performance.now() + sliceMs;
    }
    return { tokens, tokenizer: isOwn ? encoding : `~${encoding}` };
  }

  private one(encoding: Encoding, text: string, count: Count): number {
    const before = this.held[encoding].get(text);
    if (before !== undefined) return before;
    const tokens = count(text.replace(unbroken, '$& '));
    const { o200k, cl100k } = this.held;
    if (o200k.size + cl100k.size >= mostHeld || this.characters > mostCharacters) {
      o200k.clear();
      cl100k.clear();
      this.characters = 0;
    }
    // A part of a request’s text would keep all of it.
    this.held[encoding].set(Buffer.from(text).toString(), tokens);
    this.characters += text.length;
    return tokens;
  }

  private counter(encoding: Encoding): Promise<Count> {
    let counter = this.counters.get(encoding);
    if (counter === undefined) {
      counter = load(encoding);
      this.counters.set(encoding, counter);
      counter.catch(() => this.counters.delete(encoding));
    }
    return counter;
  }
}

const unbroken = new RegExp(`[^\\s]{${String(longestRun)}}`, 'g');

async function load(encoding: Encoding): Promise<Count> {
  const { countTokens } =
    encoding === 'o200k'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base');
  // A definition may hold the text of a special token, which counts as any other.
  return (text) => countTokens(text, { disallowedSpecial: new Set() });
}

/** OpenAI’s models up to GPT-4 have cl100k, those since have o200k; of others o200k is an approximation. */
function encodingOf(model: string): { readonly encoding: Encoding; readonly isOwn: boolean } {
  const name = model.toLowerCase().split('/').at(-1) ?? '';
  if (/^(gpt-4o|gpt-4\.|chatgpt-4o|gpt-[5-9]|gpt-oss|o[1-9])/.test(name)) return { encoding: 'o200k', isOwn: true };
  if (/^(gpt-4|gpt-3\.5|gpt-35)/.test(name)) return { encoding: 'cl100k', isOwn: true };
  return { encoding: 'o200k', isOwn: false };
}
