import { deepestJson, isDeeperThan, parseExactJson, printable } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { inTime } from '@sluice/patterns';
import { jsonSchemaProblems } from './json-schema-input.js';

/** How long one answer may be checked, in milliseconds, and how long its schema may be compiled before that. */
const patienceMs = { compile: 2_000, check: 500 } as const;
/** Faults that a model is shown, and characters of each. */
const mostFaults = 10;
const longestFault = 300;

/** An answer as JSON text that fits the schema, or why it does not. */
type CheckedAnswer = { readonly structured: string } | { readonly faults: readonly string[] };

/**
 * A checker of answers by the schema that a request or an agent gives. A schema of a stranger can keep a validator busy
 * for as long as it likes, so what takes longer than it may counts as a fault.
 */
export function answerChecker(schema: JsonObject): (answer: string) => CheckedAnswer {
  const problemsOf = jsonSchemaProblems(schema);
  let isCompiled = false;
  return (answer) => {
    const value = valueIn(answer);
    if (value === undefined) return { faults: ['it is no JSON text'] };
    if (isDeeperThan(value, deepestJson)) return { faults: [`it is nested deeper than ${deepestJson} levels`] };
    try {
      const compiling = isCompiled ? 0 : patienceMs.compile;
      const found = inTime(compiling + patienceMs.check, () => problemsOf(value));
      isCompiled = true;
      if (found === null) return { faults: ['checking it by the schema takes too long'] };
      if (found.value.length === 0) return { structured: JSON.stringify(value) };
      const named = found.value.map(({ path, message }) => cut(`${shown(path)}: ${message}`));
      const more = named.length > mostFaults ? ['and more'] : [];
      return { faults: [...named.slice(0, mostFaults), ...more] };
    } catch (error) {
      return { faults: [cut(`the schema cannot be used (${error instanceof Error ? error.message : String(error)})`)] };
    }
  };
}

/** The JSON in an answer, also where a fence of Markdown is around it; undefined where there is none. */
function valueIn(answer: string): JsonValue | undefined {
  const text = answer.trim();
  const [, fenced] = /^```[a-z]*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i.exec(text) ?? [];
  try {
    return parseExactJson(fenced ?? text);
  } catch {
    return undefined;
  }
}

/**
 * A path for a model to read as an instruction: of names that are not plain ones, which a result of a tool may have had
 * the model write, it shows that they are there.
 */
function shown(path: string): string {
  if (path === '') return 'the whole';
  return path
    .split('/')
    .map((step) => (/^[\w$.~-]{0,64}$/.test(step) ? step : '…'))
    .join('/');
}

function cut(text: string): string {
  const clean = printable(text);
  return clean.length > longestFault ? `${clean.slice(0, longestFault)}…` : clean;
}
