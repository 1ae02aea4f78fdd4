import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isRawNumber, parseExactJson } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { isStorable } from './integers.js';
import { nodeLabels, relationshipTypes } from './metamodel.js';

/** What a graph begins with, from one JSON file. */
export interface GraphFile extends z.output<typeof shape> {
  readonly path: string;
}

const word = z.string().min(1).max(100);

const shape = z.strictObject({
  nodes: z
    .array(
      z
        .object({ label: z.enum(nodeLabels), id: word, name: word, aliases: z.array(word).max(50).optional() })
        .catchall(z.union([z.string().max(2_000), z.number(), z.boolean(), z.custom<number>(isStorable)])),
    )
    .max(10_000)
    .default([]),
  relationships: z
    .array(z.strictObject({ from: word, type: z.enum(Object.keys(relationshipTypes)), to: word }))
    .max(20_000)
    .default([]),
});

/** Reads the files. Throws a sentence about the first that cannot be used. */
export function readGraphFiles(paths: readonly string[]): readonly GraphFile[] {
  const files = paths.map((path): GraphFile => {
    let content: unknown;
    try {
      content = withExactIntegers(parseExactJson(readFileSync(path, 'utf8')));
    } catch (error) {
      throw new Error(`The graph file ${path} cannot be read: ${(error as Error).message}`, { cause: error });
    }
    const read = shape.safeParse(content);
    if (read.success) return { path, ...read.data };
    const [first] = read.error.issues;
    throw new Error(`The graph file ${path} cannot be used: ${first?.path.join('.') ?? ''}: ${first?.message ?? ''}.`);
  });
  const ids = new Set(files.flatMap(({ nodes }) => nodes.map(({ id }) => id)));
  for (const { path, relationships } of files) {
    const lost = relationships.flatMap(({ from, to }) => [from, to]).find((id) => !ids.has(id));
    if (lost !== undefined)
      throw new Error(`The graph file ${path} cannot be used: it relates ${lost}, and no file has a node of that id.`);
  }
  return files;
}

/** Numbers as JavaScript has them, but integers beyond 2^53 as they are written. */
function withExactIntegers(value: JsonValue): JsonValue {
  if (isRawNumber(value)) return isWhole(value.rawJSON) ? value : Number(value.rawJSON);
  if (Array.isArray(value)) return value.map((each: JsonValue) => withExactIntegers(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value as JsonObject).map(([name, each]) => [name, withExactIntegers(each)]));
}

const isWhole = (text: string): boolean => /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text));
