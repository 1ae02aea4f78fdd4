import type { z } from 'zod';
import {
  hasRawNumbers,
  inexactNumbers,
  isJsonObject,
  isRawNumber,
  ToolInputError,
  withPlainNumbers,
} from '@sluice/core';
import type { InputProblem, JsonValue } from '@sluice/core';

/**
 * Checks arguments against a contract's schema. Code takes JavaScript's numbers, so a number that these cannot hold
 * is refused instead of rounded. Throws ToolInputError, which never repeats a value.
 */
export function parseInput(schema: z.ZodObject, rawArgs: JsonValue): JsonValue {
  const inexact = inexactNumbers(rawArgs);
  if (inexact.length > 0)
    throw new ToolInputError(inexact.map((path) => ({ path: pointer(path), message: tooManyDigits })));
  const result = schema.safeParse(hasRawNumbers(rawArgs) ? withPlainNumbers(rawArgs) : rawArgs);
  // What zod returns for JSON is JSON: the derived schema has no other types.
  if (result.success) return result.data as JsonValue;
  throw new ToolInputError(result.error.issues.flatMap((issue) => problemsOf(issue, rawArgs)));
}

const tooManyDigits =
  'has more digits than a number here can hold; if the tool takes a text in its place, write the number in quotes';

function problemsOf(issue: z.core.$ZodIssue, rawArgs: JsonValue): InputProblem[] {
  const keys = issue.path.map(String);
  const found = kindAt(rawArgs, keys);
  const path = pointer(keys);
  if (found === 'nothing') return [{ path, message: 'is required and missing' }];
  switch (issue.code) {
    case 'invalid_type':
      return [{ path, message: `expected ${named(issue.expected)}, found ${found}` }];
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: pointer([...keys, key]), message: 'is not an argument of this tool' }));
    case 'invalid_value':
      return [{ path, message: `expected one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}` }];
    case 'invalid_union': {
      const kinds = issue.errors
        .flat()
        .flatMap((inner) => (inner.code === 'invalid_type' ? [named(inner.expected)] : []));
      return [
        {
          path,
          message: `expected ${kinds.length > 0 ? [...new Set(kinds)].join(' or ') : 'one of the described forms'}, found ${found}`,
        },
      ];
    }
    case 'too_small':
    case 'too_big':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return [{ path, message: issue.message.charAt(0).toLowerCase() + issue.message.slice(1) }];
  }
}

/** The kind of value a path leads to: 'nothing' if it leads nowhere. */
export function kindAt(value: JsonValue, keys: readonly string[]): string {
  let at: JsonValue | undefined = value;
  for (const key of keys) {
    if (Array.isArray(at)) at = (at as readonly JsonValue[])[Number(key)];
    else if (isJsonObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return 'nothing';
  }
  return at === undefined ? 'nothing' : kindOf(at);
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isRawNumber(value)) return named('number');
  return named(typeof value);
}

/** A type's name with its article, as a sentence wants it. */
export function named(type: string): string {
  switch (type) {
    case 'int':
    case 'integer':
      return 'an integer';
    case 'array':
      return 'an array';
    case 'object':
    case 'record':
      return 'an object';
    case 'null':
      return 'null';
    default:
      return `a ${type}`;
  }
}

/** A JSON pointer (RFC 6901); '' for the whole. */
export function pointer(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
