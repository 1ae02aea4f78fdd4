import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ToolOutcomeLostError, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { ToolFile } from '@sluice/core';
import { defineTool, isContract } from '../contract.js';
import type { ToolContract } from '../contract.js';
import type { ToolDefinition } from '../definition.js';

/**
 * What a tool file outside the project is given, since it stands anywhere and can import nothing of it: its default export is a
 * function of this that returns the tool.
 */
export const toolKit = Object.freeze({ defineTool, z, ToolUserError, ToolUnavailableError, ToolOutcomeLostError });
export type ToolKit = typeof toolKit;

/** A tool of a file, and the bytes it was made from. */
export interface LoadedTool {
  readonly contract: ToolContract;
  readonly file: ToolFile;
}

/**
 * Loads a tool from a file of JavaScript or TypeScript, whatever the project has loaded from it before: other bytes are another module.
 * What the file itself imports is loaded once a process. Throws an Error whose sentence says what the file lacks.
 */
export async function loadToolFile(path: string): Promise<LoadedTool> {
  const hash = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  const url = pathToFileURL(resolve(path));
  url.search = hash;
  const module = (await import(url.href)) as { readonly default?: unknown };
  if (module.default === undefined) {
    throw new Error('It has no default export: write `export default ({ defineTool, z }) => defineTool({ … })`.');
  }
  const made: unknown =
    typeof module.default === 'function'
      ? await (module.default as (kit: ToolKit) => unknown)(toolKit)
      : module.default;
  return { contract: isContract(made) ? made : defineTool(made as Definition), file: { path, hash } };
}

/** Anything: defineTool checks it. */
type Definition = ToolDefinition<z.ZodObject, z.ZodType, never>;
