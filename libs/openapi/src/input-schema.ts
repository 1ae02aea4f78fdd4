import { cut, isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { followed, listIn, objectIn, textIn } from './values.js';

/** Characters of an argument’s schema, as JSON: it goes to the model with each of its turns. */
const mostSchemaCharacters = 16_384;
/** Levels of objects and lists that are shown at first; fewer where the schema becomes too large. */
const levels = [12, 8, 6, 5, 4, 3, 2, 1] as const;
/** Characters of one description within a schema. */
const descriptionCharacters = 500;
const deepestAnyway = 40;

/** What says nothing about values, or nothing to a model. */
const left = new Set([
  ...[
    'example',
    'examples',
    'xml',
    'externalDocs',
    'discriminator',
    'deprecated',
    'title',
    '$schema',
    '$id',
    '$anchor',
  ],
  ...['$comment', 'readOnly', 'writeOnly', '$defs', 'definitions', '$dynamicAnchor', 'contentSchema'],
]);
const byName = new Set(['properties', 'patternProperties', 'dependentSchemas']);
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const single = new Set([
  ...['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'additionalItems'],
]);

/** A schema of a document for what is sent, with everything that it refers to in place. */
interface InputSchema {
  readonly schema: JsonObject;
  /** Whether deeper levels are only named, since the whole would be too large or has no end. */
  readonly isShortened: boolean;
}

/** Throws a TypeError, a sentence, where a reference leads nowhere. */
export function inputSchema(document: JsonObject, schema: JsonValue | undefined): InputSchema {
  for (const level of levels) {
    const work = new Placing(document, level);
    const placed = work.placed(schema, 0, []);
    if (work.length <= mostSchemaCharacters || level === 1) return { schema: placed, isShortened: work.isShortened };
  }
  return { schema: {}, isShortened: true };
}

/** What HTML a description is written in says nothing to a model. */
export function plainText(text: string, most: number): string {
  const plain = text
    .replace(
      /<\/?(?:p|a|code|strong|b|em|i|ul|ol|li|br|div|span|pre|h[1-6]|table|tr|td|th|tbody|thead)\b[^<>]*>/gi,
      ' ',
    )
    .replace(/[ \t]{2,}/g, ' ')
    .trim();
  return plain.length > most ? `${cut(plain, most - 1).trimEnd()}…` : plain;
}

class Placing {
  /** About how many characters the schema has so far. */
  length = 0;
  isShortened = false;

  constructor(
    private readonly document: JsonObject,
    private readonly mostLevels: number,
  ) {}

  placed(value: JsonValue | undefined, level: number, around: readonly JsonObject[]): JsonObject {
    if (!isJsonObject(value)) return {};
    const whole = this.resolved(value);
    const { target } = whole;
    if (this.length > mostSchemaCharacters) {
      this.isShortened = true;
      return this.mostLevels > 1 ? {} : this.named(whole.schema);
    }
    if (around.includes(target) || level > this.mostLevels || around.length > deepestAnyway) {
      this.isShortened = true;
      return this.named(whole.schema);
    }
    return this.inside(whole.schema, level, [...around, target]);
  }

  /** What stands beside a reference goes before what it names, as in OpenAPI 3.1. */
  private resolved(value: JsonObject): { readonly target: JsonObject; readonly schema: JsonObject } {
    if (typeof value['$ref'] !== 'string') return { target: value, schema: value };
    const target = followed(this.document, value);
    if (typeof target === 'string') throw new TypeError(target);
    const { $ref: _, ...beside } = value;
    return { target, schema: Object.keys(beside).length === 0 ? target : { ...target, ...beside } };
  }

  /** Only what kind of value it is. */
  private named({ type, description, nullable, properties, allOf }: JsonObject): JsonObject {
    const isObject = type === 'object' || (type === undefined && (properties !== undefined || allOf !== undefined));
    return this.counted({
      ...(isObject ? { type: 'object' } : type === undefined ? {} : { type }),
      ...(nullable === true ? { nullable } : {}),
      ...(type === 'array' ? { items: {} } : {}),
      ...(typeof description === 'string' ? { description: plainText(description, 200) } : {}),
    });
  }

  private inside(schema: JsonObject, level: number, around: readonly JsonObject[]): JsonObject {
    const { kept, gone } = this.withoutReadOnly(schema);
    const entries = Object.entries(kept).flatMap(([key, value]): [string, JsonValue][] => {
      if (left.has(key) || key.startsWith('x-')) return [];
      if (key === 'description') return [[key, plainText(textIn(value), descriptionCharacters)]];
      if (key === 'required') return requiredIn(value, gone);
      if (byName.has(key)) return isJsonObject(value) ? [[key, this.each(value, level, around)]] : [];
      // A choice or a part is no deeper level of the value.
      if (lists.has(key)) return [[key, listIn(value).map((one) => this.placed(one, level, around))]];
      if (single.has(key)) return [[key, isJsonObject(value) ? this.placed(value, level + 1, around) : value]];
      return [[key, value]];
    });
    return this.counted(Object.fromEntries(entries));
  }

  private each(schemas: JsonObject, level: number, around: readonly JsonObject[]): JsonObject {
    const entries = Object.entries(schemas).map(([name, one]): [string, JsonValue] => {
      this.length += name.length + 4;
      return [name, typeof one === 'boolean' ? one : this.placed(one, level + 1, around)];
    });
    return Object.fromEntries(entries);
  }

  /** What a server alone sets is no argument. */
  private withoutReadOnly(schema: JsonObject): { readonly kept: JsonObject; readonly gone: readonly string[] } {
    const { properties } = schema;
    if (!isJsonObject(properties)) return { kept: schema, gone: [] };
    const gone = Object.entries(properties).flatMap(([name, one]) => {
      const target = followed(this.document, one);
      const isReadOnly = objectIn(one)['readOnly'] ?? (typeof target === 'string' ? false : target['readOnly']);
      return isReadOnly === true ? [name] : [];
    });
    if (gone.length === 0) return { kept: schema, gone };
    const others = Object.entries(properties).filter(([name]) => !gone.includes(name));
    return { kept: { ...schema, properties: Object.fromEntries(others) }, gone };
  }

  private counted(schema: JsonObject): JsonObject {
    for (const [key, value] of Object.entries(schema)) {
      this.length += key.length + 6;
      if (typeof value === 'string') this.length += value.length;
      else if (key === 'enum' || key === 'default' || key === 'required') this.length += JSON.stringify(value).length;
    }
    return schema;
  }
}

/** OpenAPI 3.0’s documents write it as a flag of a property now and then, which means nothing. */
function requiredIn(value: JsonValue, gone: readonly string[]): [string, JsonValue][] {
  const names = listIn(value).filter((name) => typeof name === 'string' && !gone.includes(name));
  return names.length === 0 ? [] : [['required', [...new Set(names)]]];
}
