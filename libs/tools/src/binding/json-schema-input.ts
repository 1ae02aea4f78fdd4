import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { checkableSchema, soundSchema } from '@sluice/schemas';
import { hasRawNumbers, ToolInputError, withPlainNumbers } from '@sluice/core';
import type { InputProblem, JsonObject, JsonValue } from '@sluice/core';
import { RegexTimeBudget } from '@sluice/patterns';
import { kindAt, named, pointer } from './input.js';

/** Problems that are named of one call: a list of a thousand bad elements is as clear from the first ones. */
const mostProblems = 20;
/** Characters of a problem: a server can name a thousand values that would have done. */
const longestProblem = 500;

/**
 * A checker for arguments against a server's own JSON Schema, compiled at its first use. A schema that cannot be
 * compiled lets nothing pass. Returns the arguments as they were written: a default in the schema is an annotation,
 * and the server fills in its own. Throws ToolInputError, which never repeats a value.
 */
export function jsonSchemaInput(schema: JsonObject): (rawArgs: JsonValue) => JsonValue {
  let check: Checker | undefined;
  return (rawArgs) => {
    check ??= compileInput(schema);
    const problems = problemsBy(check, rawArgs, 'is not an argument of this tool');
    if (problems.length > 0) throw new ToolInputError(problems);
    return rawArgs;
  };
}

/**
 * What is wrong with values by a schema, which is compiled at the first one; empty where nothing is. Throws where the
 * schema cannot be compiled.
 */
export function jsonSchemaProblems(schema: JsonObject): (value: JsonValue) => readonly InputProblem[] {
  let check: Checker | undefined;
  return (value) => {
    check ??= compile(schema, { allErrors: true });
    return problemsBy(check, value, 'is not in the schema');
  };
}

function problemsBy(check: Checker, value: JsonValue, stray: string): readonly InputProblem[] {
  if (check(hasRawNumbers(value) ? withPlainNumbers(value) : value)) return [];
  const errors = check.errors ?? [];
  const problems = errors.slice(0, mostProblems).map((error) => problemOf(error, value, stray));
  const more = { path: '', message: `and ${errors.length - mostProblems} more` };
  return errors.length > mostProblems ? [...problems, more] : problems;
}

/**
 * A checker for a server's results against the output schema it promised; without one, anything it sends passes.
 * Throws where a result does not fit, and where the schema cannot be compiled. What came over the wire is JSON, so
 * nothing else is checked.
 */
export function jsonSchemaOutput(schema: JsonObject | null): (rawOutput: unknown) => JsonValue {
  let check: Checker | undefined;
  return (rawOutput) => {
    const output = rawOutput as JsonValue;
    if (schema === null) return output;
    check ??= compile(schema, { allErrors: false });
    if (check(hasRawNumbers(output) ? withPlainNumbers(output) : output)) return output;
    throw new Error('The result does not fit the output schema.');
  };
}

/** What is wrong with arguments by a schema, in words; null where they fit. */
export function argumentsProblem(schema: JsonObject, args: JsonObject): string | null {
  try {
    jsonSchemaInput(schema)(args);
    return null;
  } catch (error) {
    if (!(error instanceof ToolInputError)) throw error;
    return error.message;
  }
}

function compileInput(schema: JsonObject): Checker {
  try {
    return compile(schema, { allErrors: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
    throw new ToolInputError([
      {
        path: '',
        message: `the server’s input schema for this tool cannot be used (${reason}), so nothing can be checked against it`,
      },
    ]);
  }
}

interface Checker {
  (value: unknown): boolean;
  readonly errors?: ErrorObject[] | null;
}

function compile(schema: JsonObject, options: { allErrors: boolean }): Checker {
  // A configuration of an earlier release may hold a schema as its server wrote it. Unknown formats are hints, not
  // rules.
  const { schema: sound, problems } = soundSchema(schema);
  if (problems[0] !== undefined) throw new Error(problems[0]);
  const patience = new RegexTimeBudget();
  const check: ValidateFunction = new Ajv2020({
    ...options,
    strict: false,
    strictNumbers: true,
    // Every object inherits a `constructor` and a `toString`, which are no members of it.
    ownProperties: true,
    validateFormats: false,
    logger: false,
    // Checked above; the meta-schema would be compiled for each tool.
    validateSchema: false,
    meta: false,
    code: { regExp: patience.regExp },
  }).compile(checkableSchema(sound));
  return Object.defineProperty(
    (value: unknown): boolean => {
      patience.begin();
      return check(value);
    },
    'errors',
    { get: () => check.errors },
  );
}

function problemOf(error: ErrorObject, rawArgs: JsonValue, stray: string): InputProblem {
  const path = error.instancePath;
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return { path: path + pointer([String(params['missingProperty'])]), message: 'is required and missing' };
    case 'additionalProperties':
      return {
        path: path + pointer([String(params['additionalProperty'])]),
        message: stray,
      };
    case 'type': {
      const types = [params['type']].flat().map((type) => named(String(type)));
      return { path, message: `expected ${types.join(' or ')}, found ${kindAt(rawArgs, keysOf(path))}` };
    }
    case 'enum':
      return {
        path,
        message: cut(
          `expected one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
        ),
      };
    default:
      return { path, message: cut(error.message ?? `does not satisfy ${error.keyword}`) };
  }
}

function cut(message: string): string {
  return message.length > longestProblem ? `${message.slice(0, longestProblem)}…` : message;
}

function keysOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
