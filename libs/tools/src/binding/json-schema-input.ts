import { Ajv } from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { ToolInputError } from '@sluice/core';
import type { InputProblem, JsonObject, JsonValue } from '@sluice/core';
import { kindAt, named, pointer } from './input.js';

/**
 * A checker for arguments against a server's own JSON Schema, compiled at its first use. A schema that cannot be compiled lets nothing
 * pass. Returns the arguments with defaults applied; throws ToolInputError, which never repeats a value.
 */
export function jsonSchemaInput(schema: JsonObject): (rawArgs: JsonValue) => JsonValue {
  let check: ValidateFunction | undefined;
  return (rawArgs) => {
    check ??= compile(schema);
    const args = structuredClone(rawArgs);
    if (check(args)) return args;
    throw new ToolInputError((check.errors ?? []).map((error) => problemOf(error, rawArgs)));
  };
}

function compile(schema: JsonObject): ValidateFunction {
  // Servers name many dialects; what is checked is the part draft 7 shares with them. Unknown formats are hints, not rules.
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id'));
  try {
    return new Ajv({
      strict: false,
      allErrors: true,
      useDefaults: true,
      validateFormats: false,
      logger: false,
    }).compile(rest);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolInputError([
      {
        path: '',
        message: `the server’s input schema for this tool cannot be used (${reason}), so nothing can be checked against it`,
      },
    ]);
  }
}

function problemOf(error: ErrorObject, rawArgs: JsonValue): InputProblem {
  const path = error.instancePath;
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return { path: path + pointer([String(params['missingProperty'])]), message: 'is required and missing' };
    case 'additionalProperties':
      return {
        path: path + pointer([String(params['additionalProperty'])]),
        message: 'is not an argument of this tool',
      };
    case 'type': {
      const types = [params['type']].flat().map((type) => named(String(type)));
      return { path, message: `expected ${types.join(' or ')}, found ${kindAt(rawArgs, keysOf(path))}` };
    }
    case 'enum':
      return {
        path,
        message: `expected one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
      };
    default:
      return { path, message: error.message ?? `does not satisfy ${error.keyword}` };
  }
}

function keysOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
