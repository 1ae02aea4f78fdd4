import type { Request } from 'express';
import { nearest, printable } from '@sluice/core';
import { ownBodies } from './openapi/own-bodies.js';
import type { JsonSchema } from './openapi/json-schema.js';
import { Refusal } from './refusal.js';
import { clearJson } from './strict-body.js';

/** Characters of a name that a message repeats. */
const longestQuoted = 100;

/**
 * The JSON of a body that becomes no record, held to the schema that the description has of it, but for patterns: its
 * handler reads those. Throws Refusal(400) with what to change.
 */
export function describedBody<T>(request: Request & { rawBody?: Buffer }, name: keyof typeof ownBodies): T {
  const body = clearJson(request);
  const problem = problemIn(body, ownBodies[name] as JsonSchema, 'The body');
  if (problem !== null) throw new Refusal(400, 'invalid_request', problem);
  return body as T;
}

function problemIn(value: unknown, schema: JsonSchema, where: string): string | null {
  const types = [(schema['type'] ?? []) as string | readonly string[]].flat();
  if (value === null) return types.includes('null') ? null : `${where} is null. Give it a value, or leave it out.`;
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(value))
    return `${where} must be one of ${(schema['enum'] as readonly unknown[]).filter((one) => one !== null).join(', ')}.`;
  switch (types.find((type) => type !== 'null')) {
    case 'string':
      return textProblem(value, schema, where);
    case 'boolean':
      return typeof value === 'boolean' ? null : `${where} must be true or false.`;
    case 'integer':
      return numberProblem(value, schema, where, Number.isSafeInteger(value), 'a whole number');
    case 'number':
      return numberProblem(value, schema, where, typeof value === 'number', 'a number');
    case 'array':
      return listProblem(value, schema, where);
    default:
      return objectProblem(value, schema, where);
  }
}

function textProblem(value: unknown, { minLength, maxLength }: JsonSchema, where: string): string | null {
  if (typeof value !== 'string') return `${where} must be a text.`;
  if (!value.isWellFormed()) return `${where} has half of a surrogate pair. Write well-formed Unicode.`;
  if (typeof minLength === 'number' && value.length < minLength) return `${where} is empty. Give it a value.`;
  // Lengths are counted in UTF-16 units, as everywhere.
  if (typeof maxLength === 'number' && value.length > maxLength)
    return `${where} has more than ${maxLength} characters.`;
  return null;
}

function numberProblem(
  value: unknown,
  { minimum, maximum }: JsonSchema,
  where: string,
  isNumber: boolean,
  what: string,
): string | null {
  const least = typeof minimum === 'number' ? minimum : -Infinity;
  const most = typeof maximum === 'number' ? maximum : Infinity;
  if (isNumber && (value as number) >= least && (value as number) <= most) return null;
  const range = Number.isFinite(most) ? ` from ${least} to ${most}` : '';
  return `${where} must be ${what}${range}.`;
}

function listProblem(value: unknown, { items, maxItems }: JsonSchema, where: string): string | null {
  if (!Array.isArray(value)) return `${where} must be a list.`;
  if (typeof maxItems === 'number' && value.length > maxItems) return `${where} has more than ${maxItems} items.`;
  for (const [place, item] of value.entries()) {
    const problem = problemIn(item, items as JsonSchema, `${where}[${place}]`);
    if (problem !== null) return problem;
  }
  return null;
}

function objectProblem(
  value: unknown,
  { properties = {}, required = [], additionalProperties, maxProperties }: JsonSchema,
  where: string,
): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${where} must be an object.`;
  const known = properties as Readonly<Record<string, JsonSchema>>;
  const entries = Object.entries(value);
  if (typeof maxProperties === 'number' && entries.length > maxProperties)
    return `${where} has more than ${maxProperties} members.`;
  for (const [name, member] of entries) {
    const path = where === 'The body' ? quoted(name) : `${where}.${quoted(name)}`;
    const schema = Object.hasOwn(known, name) ? known[name] : (additionalProperties as JsonSchema | false | undefined);
    if (schema === undefined || schema === false) return unknownField(name, Object.keys(known), where);
    const problem = problemIn(member, schema, path);
    if (problem !== null) return problem;
  }
  const missing = (required as readonly string[]).find((name) => !Object.hasOwn(value, name));
  return missing === undefined ? null : `${where} lacks ${missing}.`;
}

function unknownField(name: string, known: readonly string[], where: string): string {
  const near = nearest(name, known);
  const hint = near === undefined ? `There are ${known.join(', ')}.` : `Did you mean ${near}?`;
  return `${where} has no field “${quoted(name)}”. ${hint}`;
}

function quoted(name: string): string {
  return printable(name.length > longestQuoted ? `${name.slice(0, longestQuoted)}…` : name);
}
