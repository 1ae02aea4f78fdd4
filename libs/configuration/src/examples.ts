import { exampleIn } from '@sluice/core';
import type { Finding, JsonObject, Problem, ToolSpec } from '@sluice/core';
import type { ToolEntry } from './entries.js';

/** The tool’s entry, and what it is by its type or its server. */
interface Specified {
  readonly entry: ToolEntry;
  readonly binding: unknown;
  readonly allowed: { readonly specification: { readonly spec: ToolSpec | null } };
}

/**
 * The tools with the examples that fit them: one that the tool would refuse teaches a client to make mistakes (XM-2).
 * By a schema of the project’s it is a mistake; a server may change its schema at any time, so by that the example is
 * left out.
 */
export function withFittingExamples<T extends Specified>(
  tools: readonly T[],
  argumentsProblem: ((schema: JsonObject, args: JsonObject) => string | null) | undefined,
  said: { readonly problems: Problem[]; readonly noted: Finding[] },
): readonly T[] {
  return tools.map((tool): T => {
    const { entry, binding, allowed } = tool;
    const schema = allowed.specification.spec?.inputSchema;
    if (schema === undefined) return tool;
    if (entry.examples.length === 0) return withExampleOfDescription(tool, argumentsProblem);
    const examples = entry.examples.filter((example, place) => {
      const wrong = argumentsProblem?.(schema, example) ?? null;
      if (wrong === null) return true;
      const path = `${entry.path}.examples[${String(place)}]`;
      const found = `arguments that the tool refuses (${wrong})`;
      if (binding === null) said.problems.push({ path, found, write: 'arguments that fit its schema' });
      else said.noted.push({ kind: 'unfit_example', path, message: `The example is left out: it has ${found}.` });
      return false;
    });
    return { ...tool, entry: { ...entry, examples } };
  });
}

/**
 * Many descriptions end with an example of a call, which clients get by itself, too (M-13, M-73). One that does not
 * fit is no example.
 */
function withExampleOfDescription<T extends Specified>(
  tool: T,
  argumentsProblem: ((schema: JsonObject, args: JsonObject) => string | null) | undefined,
): T {
  const { spec } = tool.allowed.specification;
  const { example } = exampleIn(spec?.description ?? '');
  if (spec === null || example === null || argumentsProblem?.(spec.inputSchema, example) !== null) return tool;
  return { ...tool, entry: { ...tool.entry, examples: [example] } };
}
