import { setImmediate } from 'node:timers/promises';
import type { Embedder } from '@sluice/core';
import { highest } from './ranked.js';
import type { OfferedTool } from './tool.js';

/**
 * How much the closeness of meanings counts beside words, each as a share of its best. It was chosen on several data
 * sets: docs/benchmarks.md names them, and what other weights gave.
 */
const meaningWeight = 0.62;

/** Vectors that are remembered: requests repeat their tools. */
const mostVectors = 20_000;
/** Characters of a tool’s text that are embedded. */
const longestText = 1_000;
/** Texts that are sent to a model at once. */
const batch = 64;
/** Beyond so many tools that were never embedded, a list goes by words alone. */
const mostEmbedded = 5_000;
/** A model that failed is left alone for so long. */
const restMs = 30_000;

/** So many vectors that are missing are waited for where it is not known how long the model takes. */
const fewMissing = 8;

/** What `hybrid` went by. All but the first went by words alone. */
export type MeaningsWay =
  /** The closeness of meanings. */
  | 'used'
  /** The list has tools without vectors, which are made meanwhile, for later requests. */
  | 'preparing'
  /** The model did not answer in time. */
  | 'late'
  /** The model failed, now or within the last half minute. */
  | 'failed'
  /** The list is longer than is embedded. */
  | 'too_many_tools'
  /** The configuration names no model. */
  | 'no_model';

/** How close the tools are to a question, as far as that is known, and why it is not. */
export interface Closeness {
  readonly way: MeaningsWay;
  readonly closeness: readonly number[] | null;
  readonly error?: Error;
}

/** Joins the scores by words with the closeness of meanings: each as a share of its best before it is weighed. */
export function fused(words: ArrayLike<number>, meanings: ArrayLike<number>): readonly number[] {
  const share = (score: number, best: number): number => (best <= 0 ? 0 : Math.max(0, score) / best);
  const [bestByWords, closest] = [highest(words), highest(meanings)];
  return Array.from(
    words,
    (score, at) => (1 - meaningWeight) * share(score, bestByWords) + meaningWeight * share(meanings[at] ?? 0, closest),
  );
}

/** Up to its first full stop or line’s end, as far as that says something. */
const firstSentence = /^[\s\S]{20,}?(?:[.!?](?=\s|$)|[。！？\n])/;
const longestSentence = 300;

/**
 * What a tool is embedded as: whole and, where its description has more than a sentence, by the first one as well,
 * which says what it does.
 */
function textsOf({ name, description }: OfferedTool): readonly string[] {
  const words = name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/[_.:-]+/g, ' ');
  const first = (firstSentence.exec(description.slice(0, longestText))?.[0] ?? description).slice(0, longestSentence);
  const texts = [description, first].map((text) => `${words}: ${text.trim()}`.slice(0, longestText).toWellFormed());
  return [...new Set(texts)];
}

/** The vectors of tools, made once, and how close they are to a question. */
export class Meanings {
  private readonly vectors = new Map<string, Float32Array>();
  private readonly pending = new Map<string, Promise<void>>();
  private restsUntil = 0;
  /** Why the model was left alone, until a request has said so. */
  private failure: Error | null = null;
  /** Milliseconds that the model took for a text of late; null where that is not known. */
  private msForText: number | null = null;

  constructor(private readonly now: () => number) {}

  /**
   * How close each tool is to the question, for a request, which waits only for what may come in time: a list of
   * tools that the model would take longer for is prepared for the requests after it. Never rejects. A failure in the
   * meantime is reported by the request that follows it.
   */
  async atOnce(
    embedderOf: () => Promise<Embedder>,
    tools: readonly OfferedTool[],
    query: string,
    timeoutMs: number,
  ): Promise<Closeness> {
    if (tools.length > mostEmbedded) return { way: 'too_many_tools', closeness: null };
    if (this.now() < this.restsUntil) return this.failed();
    try {
      const loading = embedderOf();
      const embedder = await Promise.race([loading, setImmediate(null)]);
      if (embedder === null || this.takesLonger(embedder, tools, timeoutMs)) {
        this.prepare(loading, tools);
        return { way: 'preparing', closeness: null };
      }
      const closeness = await this.closeness(embedderOf, tools, query, timeoutMs);
      return { way: closeness === null ? 'late' : 'used', closeness };
    } catch (error) {
      this.rest(error);
      return this.failed();
    }
  }

  private failed(): Closeness {
    const error = this.failure;
    this.failure = null;
    return { way: 'failed', closeness: null, ...(error === null ? {} : { error }) };
  }

  /** Whether the vectors that are missing would come too late, with room for the question’s. */
  private takesLonger(embedder: Embedder, tools: readonly OfferedTool[], timeoutMs: number): boolean {
    const missing = new Set(tools.flatMap(textsOf).filter((text) => !this.vectors.has(keyOf(embedder, text)))).size;
    if (missing === 0) return false;
    return this.msForText === null ? missing > fewMissing : missing * this.msForText > timeoutMs / 2;
  }

  private prepare(loading: Promise<Embedder>, tools: readonly OfferedTool[]): void {
    loading
      .then((embedder) => this.embed(embedder, tools.flatMap(textsOf)))
      .catch((error: unknown) => this.rest(error));
  }

  /**
   * How close each tool is to the question, in the order of the tools; null where that is not known within the time.
   * What has no vector yet gets one meanwhile, for the next request.
   */
  async closeness(
    embedderOf: () => Promise<Embedder>,
    tools: readonly OfferedTool[],
    query: string,
    timeoutMs: number,
  ): Promise<readonly number[] | null> {
    if (tools.length > mostEmbedded || this.now() < this.restsUntil) return null;
    const texts = tools.map(textsOf);
    const question = query.slice(-longestText).toWellFormed();
    const embedded = embedderOf().then(async (embedder) => {
      await this.embed(embedder, [question, ...texts.flat()]);
      return embedder;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), timeoutMs);
    });
    let embedder: Embedder | null;
    try {
      embedder = await Promise.race([embedded, late]);
    } catch (error) {
      this.rest(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
    if (embedder === null) {
      embedded.catch((error: unknown) => this.rest(error));
      return null;
    }
    const from = embedder;
    const asked = this.vectors.get(keyOf(from, question));
    if (asked === undefined) return null;
    return texts.map((own) => Math.max(...own.map((text) => dot(this.vectors.get(keyOf(from, text)), asked))));
  }

  private rest(error: unknown): void {
    this.failure = error as Error;
    this.restsUntil = this.now() + restMs;
  }

  /** The question comes first; texts that another request embeds already are waited for. */
  private async embed(embedder: Embedder, texts: readonly string[]): Promise<void> {
    const waiting = new Set<Promise<void>>();
    const missing = new Set<string>();
    for (const text of texts) {
      const key = keyOf(embedder, text);
      const pending = this.pending.get(key);
      if (pending !== undefined) waiting.add(pending);
      else if (!this.vectors.has(key)) missing.add(text);
    }
    if (this.vectors.size + missing.size > mostVectors) this.vectors.clear();
    const list = [...missing];
    for (let at = 0; at < list.length; at += batch) {
      const some = list.slice(at, at + batch);
      const began = this.now();
      const done = embedder.embed(some, { signal: AbortSignal.timeout(60_000) }).then((vectors) => {
        some.forEach((text, index) => {
          const vector = vectors[index];
          if (vector !== undefined) this.vectors.set(keyOf(embedder, text), vector);
        });
        const took = (this.now() - began) / some.length;
        // One text says little: most of its time may be the way to the model.
        if (some.length > 1) this.msForText = this.msForText === null ? took : (this.msForText + took) / 2;
      });
      for (const text of some) this.pending.set(keyOf(embedder, text), done);
      try {
        await done;
      } finally {
        for (const text of some) this.pending.delete(keyOf(embedder, text));
      }
    }
    await Promise.all(waiting);
  }
}

function keyOf({ name }: Embedder, text: string): string {
  return `${name} ${text}`;
}

function dot(one: Float32Array | undefined, other: Float32Array): number {
  if (one === undefined || one.length !== other.length) return 0;
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
