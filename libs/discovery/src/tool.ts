import { isJsonObject } from '@sluice/core';
/** A tool of a request, as its client described it. */
export interface OfferedTool {
  readonly name: string;
  /** Empty where the client gave none. */
  readonly description: string;
  /** The parameters as JSON Schema, or anything else that the client sent; null where it sent none. */
  readonly parameters: unknown;
}

/** Characters of a question that are compared with tools: its beginning and its end, where people ask. */
const longestQuestion = 16_384;

/** A question as far as it is compared. A client may send a book, and no other request is to wait for its words. */
export function comparedQuestion(question: string): string {
  if (question.length <= longestQuestion) return question;
  const half = longestQuestion / 2;
  return `${question.slice(0, half)} ${question.slice(-half)}`;
}

/**
 * Characters of a tool’s description, and of each parameter’s, that are compared, for so many tools: all together are
 * bounded as well.
 */
export function comparedLength(tools: number): number {
  return Math.trunc(Math.min(10_000, Math.max(400, 4_000_000 / Math.max(1, tools))));
}

/** A parameter’s name and its description; names of nested properties as well. */
interface Parameter {
  readonly name: string;
  readonly description: string;
}

/** How deep schemas are looked into, and how many parameters of a tool count. */
const deepest = 6;
const mostParameters = 256;

const branchKeys = ['anyOf', 'oneOf', 'allOf'] as const;

/** The parameters of a tool, outer ones first. Never throws: a schema may be of any shape. */
export function parametersOf(tool: Pick<OfferedTool, 'parameters'>): readonly Parameter[] {
  const found: Parameter[] = [];
  let level: unknown[] = [tool.parameters];
  for (let depth = 0; depth < deepest && level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const schema of level) {
      if (!isJsonObject(schema)) continue;
      const { properties, items } = schema;
      if (isJsonObject(properties))
        for (const [name, property] of Object.entries(properties)) {
          if (found.length >= mostParameters) return found;
          const description = isJsonObject(property) ? property['description'] : undefined;
          found.push({ name, description: typeof description === 'string' ? description : '' });
          if (isJsonObject(property)) below.push(property);
        }
      if (isJsonObject(items)) below.push(items);
      for (const key of branchKeys) {
        const branches = schema[key];
        if (Array.isArray(branches)) below.push(...(branches as unknown[]));
      }
    }
    level = below;
  }
  return found;
}
