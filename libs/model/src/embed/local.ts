import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Embedder } from '@sluice/core';
import { WordPieces } from './word-pieces.js';

/** Pieces of a text that count: sentences of a description, not a page. */
const mostPieces = 128;

/** As much of ONNX Runtime as is used here; its packages for Node and for WebAssembly have the same names. */
interface Runtime {
  readonly InferenceSession: {
    create(model: Uint8Array, options?: object): Promise<Session>;
  };
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => Tensor;
}
interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
}
interface Tensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}

const runtimes = ['onnxruntime-node', 'onnxruntime-web'] as const;

/**
 * A small model of sentences on this machine, such as all-MiniLM-L6-v2: `model.onnx` with `tokenizer.json` or
 * `vocab.txt` beside it. ONNX Runtime is taken from that folder or from Sluice’s own packages. Throws an Error that
 * says what to install.
 */
export async function createLocalEmbedder(folder: string): Promise<Embedder> {
  const at = resolve(folder);
  const [runtime, model, pieces] = await Promise.all([loadRuntime(at), readModel(at), readPieces(at)]);
  const session = await runtime.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const one = async (text: string): Promise<Float32Array> => {
    const ids = pieces.encode(text, mostPieces);
    const tensor = (value: (at: number) => number): Tensor =>
      new runtime.Tensor(
        'int64',
        BigInt64Array.from(ids, (_, index) => BigInt(value(index))),
        [1, ids.length],
      );
    const given: Readonly<Record<string, Tensor>> = {
      input_ids: tensor((index) => ids[index] ?? 0),
      attention_mask: tensor(() => 1),
      token_type_ids: tensor(() => 0),
    };
    const feeds = Object.fromEntries(
      session.inputNames.flatMap((name) => (name in given ? [[name, given[name]]] : [])),
    );
    const output = (await session.run(feeds as Record<string, Tensor>))[session.outputNames[0] ?? ''];
    if (!(output?.data instanceof Float32Array)) throw new Error(`The model in ${folder} gives no vectors of numbers.`);
    return unit(meanOf(output.data, output.dims));
  };
  return {
    name: `local/${folder}`,
    embed: async (texts, { signal }) => {
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        signal.throwIfAborted();
        vectors.push(await one(text));
      }
      return vectors;
    },
  };
}

/** The mean over the pieces; a model that gives one vector a text gives it as it is. */
function meanOf(data: Float32Array, dims: readonly number[]): Float32Array {
  const width = dims.at(-1) ?? data.length;
  const rows = data.length / width;
  const mean = new Float32Array(width);
  data.forEach((value, at) => {
    mean[at % width] = (mean[at % width] ?? 0) + value / rows;
  });
  return mean;
}

/** The vector of length 1 in the same direction. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

async function loadRuntime(folder: string): Promise<Runtime> {
  const places = [createRequire(join(folder, 'model.js')), createRequire(import.meta.url)];
  for (const name of runtimes) {
    for (const place of places) {
      let path: string;
      try {
        path = place.resolve(name);
      } catch {
        continue;
      }
      const loaded = (await import(pathToFileURL(path).href)) as Runtime & { readonly default?: Runtime };
      return 'InferenceSession' in loaded ? loaded : (loaded as { default: Runtime }).default;
    }
  }
  throw new Error(
    `Local embeddings need ONNX Runtime: run "npm install --prefix ${folder} --ignore-scripts onnxruntime-node" (or onnxruntime-web).`,
  );
}

async function readModel(folder: string): Promise<Uint8Array> {
  try {
    return await readFile(join(folder, 'model.onnx'));
  } catch (error) {
    throw new Error(`The folder ${folder} has no model.onnx: docs/discovery.md says where to get one.`, {
      cause: error,
    });
  }
}

async function readPieces(folder: string): Promise<WordPieces> {
  for (const file of ['tokenizer.json', 'vocab.txt']) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => null);
    if (text !== null) return WordPieces.read(text);
  }
  throw new Error(`The folder ${folder} has neither tokenizer.json nor vocab.txt, which belong to its model.`);
}
