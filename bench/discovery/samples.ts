import { readFileSync } from 'node:fs';
import { isJsonObject } from '@sluice/core';
import type { OfferedTool } from '@sluice/discovery';

/** Questions, each with the one tool of a list that is right for it. */
export interface Sample {
  readonly title: string;
  readonly tools: readonly OfferedTool[];
  readonly questions: readonly (readonly [question: string, tool: string])[];
}

interface Written {
  readonly tools: Readonly<Record<string, unknown>>;
  readonly measuring: Sample['questions'];
}

/** MetaTool has a line of description for each tool, BFCL a JSON schema as well. */
export function readSample(name: 'metatool' | 'bfcl'): Sample {
  const { tools, measuring } = JSON.parse(readFileSync(`bench/discovery/${name}.json`, 'utf8')) as Written;
  const offered = Object.entries(tools).map(([tool, given]): OfferedTool => {
    if (!isJsonObject(given)) return { name: tool, description: String(given), parameters: null };
    return { name: tool, description: String(given['description']), parameters: given['parameters'] ?? null };
  });
  const source = name === 'metatool' ? 'MetaTool' : 'BFCL live_multiple';
  const title = `${measuring.length} questions of ${source} over ${offered.length} tools`;
  return { title, tools: offered, questions: measuring };
}

/** A tool as Chat Completions write it. */
export function chatTool({ name, description, parameters }: OfferedTool): object {
  return { type: 'function', function: { name, description, ...(parameters === null ? {} : { parameters }) } };
}
