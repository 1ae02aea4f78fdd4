import { readFileSync } from 'node:fs';
import { isJsonObject } from '@sluice/core';
import type { OfferedTool } from '@sluice/discovery';

/** Questions, each with the tools of a list that are right for it. */
export interface Sample {
  readonly title: string;
  readonly tools: readonly OfferedTool[];
  readonly questions: readonly (readonly [question: string, tools: readonly string[]])[];
}

interface Written {
  readonly tools: Readonly<Record<string, unknown>>;
  readonly measuring: readonly (readonly [question: string, tools: string | readonly string[]])[];
}

const sources = {
  metatool: 'MetaTool',
  bfcl: 'BFCL live_multiple',
  'bfcl-simple': 'BFCL live_simple',
  livemcpbench: 'LiveMCPBench, of several steps',
} as const;
type SampleName = keyof typeof sources;

/** MetaTool has a line of description for each tool, the others a JSON schema as well. */
export function readSample(name: SampleName): Sample {
  const { tools, measuring } = JSON.parse(readFileSync(`bench/discovery/${name}.json`, 'utf8')) as Written;
  const offered = Object.entries(tools).map(([tool, given]): OfferedTool => {
    if (!isJsonObject(given)) return { name: tool, description: String(given), parameters: null };
    return { name: tool, description: String(given['description']), parameters: given['parameters'] ?? null };
  });
  const questions = measuring.map(([question, right]) => [question, [right].flat()] as const);
  return { title: titleOf(questions.length, sources[name], offered.length), tools: offered, questions };
}

/** The questions of one sample over the tools of both. */
export function amongBoth(one: SampleName, other: SampleName): Sample {
  const { tools: own, questions } = readSample(one);
  const tools = [...new Map([...readSample(other).tools, ...own].map((tool) => [tool.name, tool])).values()];
  return { title: titleOf(questions.length, sources[one], tools.length), tools, questions };
}

function titleOf(questions: number, source: string, tools: number): string {
  return `${String(questions)} questions of ${source} over ${String(tools)} tools`;
}

/** A tool as Chat Completions write it. */
export function chatTool({ name, description, parameters }: OfferedTool): object {
  return { type: 'function', function: { name, description, ...(parameters === null ? {} : { parameters }) } };
}
