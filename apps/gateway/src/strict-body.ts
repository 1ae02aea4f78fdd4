import type { Request } from 'express';
import { recordSchema } from '@sluice/contracts';
import type { AvroType } from '@sluice/contracts';
import { nearest, printable, repeatedName } from '@sluice/core';
import { Refusal } from './refusal.js';

/**
 * The JSON of a body, in which nothing is lost without a word: UTF-8, each name once, and no field but those of these
 * records. Names that are misspelt would else count for nothing; with `only`, none but these of them. Only what says
 * that it is JSON: what a page of another origin may send without asking does not.
 */
export function strictBody(request: RawRequest, records: readonly string[], only?: readonly string[]): unknown {
  const body = clearJson(request);
  requireKnownFields(records, body, '', only);
  return body;
}

/** As strictBody, for a body that becomes no record: an object with no fields but these. */
export function strictFields<Name extends string>(
  request: RawRequest,
  names: readonly Name[],
): Readonly<Partial<Record<Name, unknown>>> {
  const body = clearJson(request);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid(`The body must be an object with ${names.join(', ')}.`);
  for (const name of Object.keys(body)) if (!(names as readonly string[]).includes(name)) throw unknown(name, names);
  return body as Readonly<Partial<Record<Name, unknown>>>;
}

type RawRequest = Request & { rawBody?: Buffer };

/** The JSON of a body, whatever its fields are. */
export function clearJson(request: RawRequest): unknown {
  if (request.is('application/json') === false)
    throw new Refusal(415, 'invalid_request', 'Send the body as JSON, with the header content-type: application/json.');
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(request.get('content-type') ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset))
    throw new Refusal(415, 'invalid_request', 'Send the body in UTF-8, as JSON is sent, with no other charset.');
  const body: unknown = request.body;
  if (request.rawBody !== undefined) requireClearText(request.rawBody);
  // A request lives as long as the stream of its run.
  delete request.rawBody;
  return body;
}

/** For a route that takes no body: none, or an object without fields. Throws Refusal(400 or 415). */
export function requireNoBody(http: RawRequest): void {
  if (http.get('transfer-encoding') === undefined && Number(http.get('content-length') ?? 0) === 0) return;
  const body = strictBody(http, []);
  const isEmpty = typeof body === 'object' && body !== null && Object.keys(body).length === 0 && !Array.isArray(body);
  if (!isEmpty) throw invalid('This takes no body. Leave it out.');
}

function requireClearText(raw: Buffer): void {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    throw invalid('The body is no valid UTF-8. Encode its text as UTF-8.');
  }
  const repeated = repeatedName(text);
  if (repeated !== null) throw invalid(`The body has ${quoted(repeated)} twice. Write each field once.`);
}

/** Throws Refusal(400) for a field that none of the records has, with the one that was probably meant. */
export function requireKnownFields(
  records: readonly string[],
  value: unknown,
  path = '',
  only?: readonly string[],
): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const all = records.flatMap((name) => recordSchema(name).fields);
  const fields = new Map(
    all.filter(({ name }) => only?.includes(name) !== false).map((field) => [field.name, field.type]),
  );
  for (const [name, member] of Object.entries(value)) {
    const type = fields.get(name);
    if (type === undefined) throw unknown(name, [...fields.keys()], path);
    requireInside(type, member, path + name);
  }
}

function unknown(name: string, known: readonly string[], path = ''): Refusal {
  const near = nearest(name, known);
  const all = known.length === 0 ? 'There are none.' : `There are ${known.join(', ')}.`;
  return invalid(`The body has no field ${quoted(path + name)}. ${near === undefined ? all : `Did you mean ${near}?`}`);
}

function requireInside(type: AvroType, value: unknown, path: string): void {
  if (typeof type === 'string') {
    if (/^[A-Z]/.test(type)) requireKnownFields([type], value, `${path}.`);
  } else if ('type' in type) {
    if (type.type === 'array' && Array.isArray(value))
      value.forEach((item, index) => requireInside(type.items, item, `${path}[${index}]`));
  } else for (const member of type) requireInside(member, value, path);
}

/** A name of the caller's, as far as a message should repeat it. */
function quoted(name: string): string {
  return `“${printable(name.length > longestQuoted ? `${name.slice(0, longestQuoted)}…` : name)}”`;
}

const longestQuoted = 100;

function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
