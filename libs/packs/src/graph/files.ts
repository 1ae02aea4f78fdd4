import { readFileSync } from 'node:fs';
import { z } from 'zod';
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
        .catchall(z.union([z.string().max(2_000), z.number(), z.boolean()])),
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
      content = JSON.parse(readFileSync(path, 'utf8'));
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
