import { recordSchema } from '@sluice/contracts';
import type { AvroField, AvroType } from '@sluice/contracts';
import type { JsonSchema } from './json-schema.js';
import { isLeftOut, isOfServices, isWanted, limitsOfField } from './limits.js';

/**
 * In a body, fields with a default may be left out and no others may stand there; an answer has all its fields, and
 * later versions may add some.
 */
type Use = 'body' | 'answer';

export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The name of a record’s schema: a record of both uses has two. */
function schemaName(record: string, use: Use): string {
  return use === 'body' && record !== 'AgentRequest' ? `${record}InBody` : record;
}

/** The wire’s form of a record, from the schema that its bodies are read by, and of the records inside it. */
export function schemasOfRecord(record: string, use: Use): Readonly<Record<string, JsonSchema>> {
  const { doc = '', fields: all } = recordSchema(record);
  const fields = all.filter(({ name }) => use === 'answer' || !isOfServices(record, name));
  const required = fields
    .filter((field) => use === 'answer' || field.default === undefined || isWanted(record, field.name))
    .map(({ name }) => name);
  const inside = [...new Set(fields.flatMap(({ type }) => recordsIn(type)))];
  return {
    [schemaName(record, use)]: {
      type: 'object',
      description: doc,
      properties: propertiesOf(fields, use, record),
      ...(required.length === 0 ? {} : { required }),
      ...(use === 'body' ? { additionalProperties: false } : {}),
    },
    ...Object.assign({}, ...inside.map((name) => schemasOfRecord(name, use))),
  };
}

export function propertiesOf(
  fields: readonly AvroField[],
  use: Use,
  record: string,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    fields.map(({ name, type, doc = '', default: given }) => [
      name,
      {
        ...schemaOf(type, use),
        description: doc,
        ...(use === 'body' ? limitsOfField(record, name) : {}),
        ...(use === 'body' && given !== undefined && !isLeftOut(record, name) ? { default: given } : {}),
      },
    ]),
  );
}

function schemaOf(type: AvroType, use: Use): JsonSchema {
  if (typeof type === 'string') return named(type, use);
  if ('type' in type) {
    if (type.type === 'array') return { type: 'array', items: schemaOf(type.items, use) };
    if (type.type === 'map') return { type: 'object', additionalProperties: schemaOf(type.values, use) };
    return ref(schemaName(type.name, use));
  }
  const [only] = type.filter((member) => member !== 'null').map((member) => schemaOf(member, use));
  if (typeof only?.['type'] === 'string') return { ...only, type: [only['type'], 'null'] };
  return { anyOf: [only, { type: 'null' }] };
}

function named(type: string, use: Use): JsonSchema {
  switch (type) {
    case 'null':
    case 'string':
      return { type };
    case 'int':
      return { type: 'integer', format: 'int32', minimum: -0x7fffffff, maximum: 0x7fffffff };
    case 'long':
      return { type: 'integer', format: 'int64' };
    case 'double':
      return { type: 'number', format: 'double' };
    case 'bytes':
      return { type: 'string', contentEncoding: 'base64' };
    default:
      return ref(schemaName(type, use));
  }
}

function recordsIn(type: AvroType): readonly string[] {
  if (typeof type === 'string') return /^[A-Z]/.test(type) ? [type] : [];
  if ('type' in type) {
    if (type.type === 'array') return recordsIn(type.items);
    if (type.type === 'map') return recordsIn(type.values);
    return [type.name];
  }
  return type.flatMap(recordsIn);
}
