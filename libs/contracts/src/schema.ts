import { schemas } from './generated/schemas.js';

/** The part of Avro that the schemas use. */
export type AvroType =
  | 'null'
  | 'string'
  | 'int'
  | 'long'
  | 'double'
  | 'boolean'
  | 'bytes'
  | string
  | readonly AvroType[]
  | { readonly type: 'array'; readonly items: AvroType }
  | { readonly type: 'map'; readonly values: AvroType }
  | AvroRecord;

export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
  readonly doc?: string;
  readonly default?: unknown;
}

interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly namespace?: string;
  readonly doc?: string;
  readonly fields: readonly AvroField[];
}

/** `request_id` on the wire is `requestId` in the process; Avro's bytes hold no names, so nothing is converted. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The name on the wire of a field in the process. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function recordSchema(name: string): AvroRecord {
  const schema = (schemas as Readonly<Record<string, AvroRecord>>)[name];
  if (schema === undefined) throw new Error(`There is no schema ${name} in schemas/.`);
  return schema;
}

/** A self-contained schema: each referenced record stands where it is named first. This is what a registry gets. */
export function selfContained(name: string): AvroRecord {
  const placed = new Set<string>();
  const place = (type: AvroType): AvroType => {
    if (typeof type === 'string') return Object.hasOwn(schemas, type) ? placeRecord(type) : type;
    if (isUnion(type)) return type.map(place);
    if (type.type === 'array') return { ...type, items: place(type.items) };
    if (type.type === 'map') return { ...type, values: place(type.values) };
    return type;
  };
  const placeRecord = (record: string): AvroType => {
    if (placed.has(record)) return record;
    placed.add(record);
    const schema = recordSchema(record);
    return { ...schema, fields: schema.fields.map((field) => ({ ...field, type: place(field.type) })) };
  };
  return placeRecord(name) as AvroRecord;
}

/**
 * The same schema with the field names the process uses: for writers of any version, since names decide how versions
 * are resolved.
 */
export function inProcess(type: AvroType): AvroType {
  if (typeof type === 'string') return type;
  if (isUnion(type)) return type.map(inProcess);
  if (type.type === 'array') return { ...type, items: inProcess(type.items) };
  if (type.type === 'map') return { ...type, values: inProcess(type.values) };
  return {
    ...type,
    fields: type.fields.map((field) => ({ ...field, name: camelCase(field.name), type: inProcess(field.type) })),
  };
}

export function isUnion(type: AvroType): type is readonly AvroType[] {
  return Array.isArray(type);
}
