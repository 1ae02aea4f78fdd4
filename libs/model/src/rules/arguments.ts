import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '@sluice/core';
import type { Clause } from './clauses.js';
import { quotedIn } from './names.js';
import { directionOf, kindOf } from './properties.js';
import { relationIn } from './relation.js';
import { statementIn } from './statement.js';
import { stem, stemsOf } from './words.js';

/** What arguments are made of. */
export interface Material {
  readonly clause: Clause;
  /** The newest table among the observations. */
  readonly rows: readonly JsonObject[] | undefined;
  /** The newest result, as text: what a text is to be written from. */
  readonly basis: string | undefined;
}

interface Filled {
  readonly value: JsonObject;
  /** Required properties for which the question and the observations have nothing. */
  readonly missing: readonly string[];
}

/** The largest table and text that are passed on, in characters: arguments are limited to 8,192 bytes. */
const maxPassedOn = 6_000;

/** Fills a tool's input from its schema. An optional property for which there is nothing is left out. */
export function fillArguments(schema: JsonObject, material: Material): Filled {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required: readonly JsonValue[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const value: Record<string, JsonValue> = {};
  const missing: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const isRequired = required.includes(name);
    const filled = fillProperty(name, variantOf(property), material, isRequired);
    if (filled !== undefined) value[name] = filled;
    else if (isRequired) missing.push(name);
  }
  return { value, missing };
}

function fillProperty(
  name: string,
  schema: JsonObject,
  material: Material,
  isRequired: boolean,
): JsonValue | undefined {
  const fallback = isRequired ? schema['default'] : undefined;
  if (schema['const'] !== undefined) return isRequired ? schema['const'] : undefined;
  if (Array.isArray(schema['enum'])) return fromEnum(name, schema, material.clause) ?? fallback;
  switch (typeOf(schema)) {
    case 'string':
      return fillString(name, schema, material, isRequired) ?? fallback;
    case 'number':
    case 'integer':
      return fillNumber(name, schema, material.clause, isRequired) ?? fallback;
    case 'boolean':
      return isRequired ? (fallback ?? false) : undefined;
    case 'array':
      return fillArray(name, schema, material) ?? fallback;
    case 'object': {
      const { value, missing } = fillArguments(schema, material);
      return missing.length === 0 && Object.keys(value).length > 0 ? value : fallback;
    }
    case undefined:
    default:
      return fallback;
  }
}

function fromEnum(name: string, schema: JsonObject, clause: Clause): JsonValue | undefined {
  if (kindOf(name, descriptionOf(schema)) === 'relation') return relationIn(clause, schema);
  const stems = stemsOf(clause.text);
  const options = Array.isArray(schema['enum']) ? schema['enum'] : [];
  return options.find(
    (option: JsonValue) => typeof option === 'string' && [...stemsOf(option)].some((each) => stems.has(each)),
  );
}

function fillString(name: string, schema: JsonObject, material: Material, isRequired: boolean): string | undefined {
  const { clause } = material;
  const statement = clause.intent.name === 'change' ? statementIn(clause.text) : undefined;
  switch (kindOf(name, descriptionOf(schema))) {
    case 'words':
      return withBasis(material);
    case 'name':
      return statement?.subject ?? clause.names[0];
    case 'relation':
      return statement?.predicate ?? relationIn(clause, schema);
    case 'object':
      return statement?.object;
    case 'address':
      return /\bhttps?:\/\/\S+[^\s.,;?!)]/.exec(clause.text)?.[0];
    case 'language':
      return undefined;
    case 'rows':
    case 'limit':
    case 'unknown':
      // Whatever is required may be what the question puts in quotation marks, or its only name.
      return isRequired
        ? (quotedIn(clause.text)[0] ?? (clause.names.length === 1 ? clause.names[0] : undefined))
        : undefined;
  }
}

/** A text is written from what was found, where anything was; every other tool gets the clause alone. */
function withBasis({ clause, basis }: Material): string {
  return clause.intent.name === 'text' && basis !== undefined
    ? `${clause.text}\n\n${basis.slice(0, maxPassedOn)}`
    : clause.text;
}

function fillNumber(name: string, schema: JsonObject, clause: Clause, isRequired: boolean): JsonValue | undefined {
  const kind = kindOf(name, descriptionOf(schema));
  const limit = kind === 'limit' ? /\b(?:top|first|limit|at most|up to)\s+(\d+)/i.exec(clause.text)?.[1] : undefined;
  // "radius 5", "5 days": the number beside the property's own name.
  const beside = [...clause.text.matchAll(/(\p{L}+)?\s*(?<![\p{L}\d])(-?\d+(?:\.\d+)?)\s*(\p{L}+)?/gu)];
  const named = beside.find((match) =>
    [match[1], match[3]].some((word) => word !== undefined && stem(word) === stem(name)),
  )?.[2];
  const text = limit ?? named ?? (isRequired ? beside[0]?.[2] : undefined);
  if (text === undefined) return undefined;
  return numberOf(typeOf(schema) === 'integer' ? text.replace(/\..*/, '') : text);
}

/** A number with all digits of the question, also more than JavaScript holds; JSON has no zeros in front. */
function numberOf(text: string): JsonValue {
  return parseExactJson(text.replace(/^(-?)0+(?=\d)/, '$1'));
}

function fillArray(name: string, schema: JsonObject, material: Material): JsonValue | undefined {
  const { clause } = material;
  const items = variantOf(schema['items'] ?? {});
  const itemType = typeOf(items);
  if (itemType === 'string')
    return kindOf(name, descriptionOf(schema)) === 'name' && clause.names.length > 0 ? clause.names : undefined;
  if (itemType !== 'object' && itemType !== undefined) return undefined;
  if (clause.intent.name !== 'change')
    return kindOf(name, descriptionOf(schema)) === 'rows' ? fitting(material.rows) : undefined;

  const wanted = /^(?:remove|delete)\b/i.test(clause.text) ? 'remove' : 'add';
  if ((directionOf(name) ?? wanted) !== wanted || statementIn(clause.text) === undefined) return undefined;
  const { value, missing } = fillArguments(items, material);
  return missing.length === 0 && Object.keys(value).length > 0 ? [value] : undefined;
}

/** As many rows as may be passed on; a table that is cut is cut between rows. */
function fitting(rows: readonly JsonObject[] | undefined): readonly JsonObject[] | undefined {
  let size = 0;
  const kept = rows?.filter((row) => (size += JSON.stringify(row).length + 1) <= maxPassedOn);
  return kept !== undefined && kept.length > 0 ? kept : undefined;
}

/** The first alternative of a property that has several; only what fits can be filled in any case. */
function variantOf(schema: JsonValue): JsonObject {
  if (!isJsonObject(schema)) return {};
  const options = [schema['anyOf'], schema['oneOf']].find(Array.isArray) as readonly JsonValue[] | undefined;
  const first = options?.find((option) => isJsonObject(option) && option['type'] !== 'null');
  return isJsonObject(first) ? { ...schema, ...first } : schema;
}

function typeOf(schema: JsonObject): string | undefined {
  const type = schema['type'];
  if (Array.isArray(type)) return type.find((each): each is string => typeof each === 'string' && each !== 'null');
  return typeof type === 'string' ? type : isJsonObject(schema['properties']) ? 'object' : undefined;
}

function descriptionOf(schema: JsonObject): string {
  return typeof schema['description'] === 'string' ? schema['description'] : '';
}
