import { z } from 'zod';
import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** What zod can check and JSON cannot say. */
const notJson = [
  'bigint',
  'custom',
  'date',
  'file',
  'function',
  'map',
  'nan',
  'promise',
  'set',
  'symbol',
  'undefined',
  'void',
];

interface DerivedSchema {
  readonly schema: JsonObject;
  /** Each use of what JSON has no form for, by JSON pointer into the schema. */
  readonly unrepresentable: readonly { readonly kind: string; readonly path: string }[];
}

/**
 * The JSON Schema (draft 7) of a tool's arguments, derived from the contract, without the
 * `$schema` member, which some providers refuse.
 */
export function inputSchemaOf(input: z.ZodObject): DerivedSchema {
  const unrepresentable: { kind: string; path: string }[] = [];
  const derived = z.toJSONSchema(input, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, path }) => {
      const kind = zodSchema._zod.def.type;
      if (notJson.includes(kind)) unrepresentable.push({ kind, path: `/${path.join('/')}` });
    },
  });
  const whole = JSON.parse(JSON.stringify(derived)) as Record<string, JsonValue>;
  const schema = Object.fromEntries(Object.entries(whole).filter(([key]) => key !== '$schema'));
  return { schema, unrepresentable };
}

/** Where an object with named properties would let unknown ones pass: JSON pointers into the schema. */
export function openObjects(schema: JsonValue, path = ''): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item: JsonValue, at) => openObjects(item, `${path}/${at}`));
  if (!isJsonObject(schema)) return [];
  const open = isJsonObject(schema['properties']) && schema['additionalProperties'] !== false;
  const inner = Object.entries(schema).flatMap(([key, value]) => {
    if (key !== 'properties' || !isJsonObject(value))
      return isJsonObject(value) ? openObjects(value, `${path}/${key}`) : [];
    return Object.entries(value).flatMap(([name, property]) => openObjects(property, `${path}/properties/${name}`));
  });
  return open ? [path || '(the whole)', ...inner] : inner;
}
