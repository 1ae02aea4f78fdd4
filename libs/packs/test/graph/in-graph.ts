import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@sluice/core';
import { builtInTools } from '@sluice/packs';
import { openEmbeddedGraph } from '../../src/graph/embedded.js';
import type { GraphFile } from '../../src/graph/files.js';
import type { PropertyGraph } from '../../src/graph/store.js';
import { context, patience } from '../../../sources/test/configured.js';

export interface InGraph {
  readonly graph: PropertyGraph;
  /** Another connection to the same graph. */
  again(begin?: readonly GraphFile[]): PropertyGraph;
  ask(query: string, parameters?: JsonObject, call?: string): Promise<readonly (readonly JsonValue[])[]>;
  /** Runs a tool; each call has a key of its own unless one is given. */
  run(type: string, args?: JsonObject, key?: string): Promise<Record<string, unknown>>;
  /** Writes a file and gives its path. */
  write(text: string): string;
}

export type OnGraph = (work: (given: InGraph) => Promise<void>) => Promise<void>;

/** Works on an embedded graph of the test’s own. */
export async function inGraph(work: (given: InGraph & { readonly file: string }) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-graph-'));
  const file = join(folder, 'graph.sqlite');
  try {
    await onGraph(
      (begin) => openEmbeddedGraph(file, begin),
      (given) => work({ ...given, file }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Opens a graph anew for each piece of work, and closes it afterwards. */
export async function onGraph(
  open: (begin: readonly GraphFile[]) => PropertyGraph,
  work: (given: InGraph) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-graph-files-'));
  const opened: PropertyGraph[] = [];
  let calls = 0;
  const again = (begin: readonly GraphFile[] = []): PropertyGraph => {
    const graph = open(begin);
    opened.push(graph);
    return graph;
  };
  const graph = again();
  try {
    await work({
      graph,
      again,
      ask: async (query, parameters = {}, call = `question ${++calls}`) =>
        (await graph.query(query, parameters, patience(), call)).rows,
      run: async (type, args = {}, key = `call ${++calls}`) => {
        const contract = builtInTools.find((each) => each.type === type);
        if (contract === undefined) throw new Error(`no ${type}`);
        const given = { graph, idempotency: { key }, cancellation: { signal: patience() } };
        const output = contract.parseOutput(await contract.execute(contract.parseInput(args), context, given));
        return output as Record<string, unknown>;
      },
      write: (text) => {
        const path = join(folder, `${++calls}.json`);
        writeFileSync(path, text);
        return path;
      },
    });
  } finally {
    for (const each of opened) await each.close();
    rmSync(folder, { recursive: true });
  }
}
