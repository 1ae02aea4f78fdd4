import type { Embedder, EmbeddingSettings } from '@sluice/core';
import { createEmbedder } from './create-embedder.js';

/**
 * The embedding models in use, made once for equal settings; one that could not be made is tried again when it is
 * next needed.
 */
export class Embedders {
  private readonly made = new Map<string, Promise<Embedder>>();

  constructor(private readonly secret: (variable: string) => string | undefined) {}

  get(settings: EmbeddingSettings): Promise<Embedder> {
    const key = JSON.stringify(settings);
    let embedder = this.made.get(key);
    if (embedder === undefined) {
      embedder = createEmbedder(settings, this.secret);
      this.made.set(key, embedder);
      embedder.catch(() => this.made.delete(key));
    }
    return embedder;
  }
}
