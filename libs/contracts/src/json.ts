import { camelCase, isUnion, recordSchema } from './schema.js';
import type { AvroType } from './schema.js';
import { schemas } from './generated/schemas.js';

/** The largest whole number that avsc writes. */
const largestLong = Number.MAX_SAFE_INTEGER - 1;

/** A JSON payload that does not have the topic's shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/**
 * Reads JSON of a record's wire shape: defaults filled in, unknown members ignored, each mistake named by its path.
 * Texts become well-formed. Bytes are base64.
 */
export function recordFromJson(name: string, value: unknown): unknown {
  return read(name, value, '$');
}

/** The names of a record's fields on the wire. */
export function wireFields(name: string): readonly string[] {
  return fieldsOf(name).map(({ wire }) => wire);
}

/** The wire shape of a record held in the process, as plain JSON. */
export function recordToJson(name: string, value: unknown): unknown {
  return write(name, value);
}

function read(type: AvroType, value: unknown, path: string): unknown {
  if (isUnion(type))
    return value === null ? null : read(type.find((member) => member !== 'null') ?? 'null', value, path);
  if (typeof type !== 'string') {
    if (type.type === 'array') {
      if (!Array.isArray(value)) throw mismatch(path, 'a list', value);
      return value.map((item, index) => read(type.items, item, `${path}[${index}]`));
    }
    if (type.type === 'map') {
      const members = Object.entries(object(path, value));
      return Object.fromEntries(
        members.map(([key, member]) => [key.toWellFormed(), read(type.values, member, `${path}.${key}`)]),
      );
    }
    return read(type.name, value, path);
  }
  if (Object.hasOwn(schemas, type)) return readRecord(type, object(path, value), path);
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw mismatch(path, 'a text', value);
      return value.toWellFormed();
    case 'int':
    case 'long':
      if (!Number.isSafeInteger(value) || Math.abs(value as number) > (type === 'int' ? 0x7fffffff : largestLong)) {
        throw mismatch(path, type === 'int' ? 'a whole number of 32 bits' : 'a whole number', value);
      }
      return value;
    case 'double':
      if (typeof value !== 'number' || !Number.isFinite(value)) throw mismatch(path, 'a number', value);
      return value;
    case 'boolean':
      if (typeof value !== 'boolean') throw mismatch(path, 'true or false', value);
      return value;
    case 'bytes':
      if (typeof value !== 'string') throw mismatch(path, 'bytes as base64', value);
      return Buffer.from(value, 'base64');
    default:
      throw new ShapeError(`${path}: the type ${type} is not read from JSON.`);
  }
}

function readRecord(name: string, value: Readonly<Record<string, unknown>>, path: string): unknown {
  const record: Record<string, unknown> = {};
  for (const { wire, inProcess, type, fallback, doc } of fieldsOf(name)) {
    const member = value[wire];
    if (member !== undefined) record[inProcess] = read(type, member, `${path}.${wire}`);
    else if (fallback !== undefined) record[inProcess] = fallback();
    else throw new ShapeError(`${path}.${wire} is missing. ${doc}`.trim());
  }
  return record;
}

interface Field {
  readonly wire: string;
  readonly inProcess: string;
  readonly type: AvroType;
  /** Gives the default, a new one each time; absent where there is none. */
  readonly fallback: (() => unknown) | undefined;
  readonly doc: string;
}

function defaultOf(given: unknown): () => unknown {
  if (Array.isArray(given) && given.length === 0) return () => [];
  return typeof given === 'object' && given !== null ? () => structuredClone(given) : () => given;
}

const fieldsByRecord = new Map<string, readonly Field[]>();

function fieldsOf(name: string): readonly Field[] {
  let fields = fieldsByRecord.get(name);
  if (fields === undefined) {
    fields = recordSchema(name).fields.map(({ name: wire, type, default: given, doc = '' }) => ({
      wire,
      inProcess: camelCase(wire),
      type,
      fallback: given === undefined ? undefined : defaultOf(given),
      doc,
    }));
    fieldsByRecord.set(name, fields);
  }
  return fields;
}

function write(type: AvroType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (isUnion(type)) return write(type.find((member) => member !== 'null') ?? 'null', value);
  if (typeof type !== 'string') {
    if (type.type === 'array') return (value as readonly unknown[]).map((item) => write(type.items, item));
    if (type.type === 'map') {
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, write(type.values, member)]));
    }
    return write(type.name, value);
  }
  if (Object.hasOwn(schemas, type)) {
    const record = value as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      fieldsOf(type).map(({ wire, inProcess, type: member }) => [wire, write(member, record[inProcess])]),
    );
  }
  return type === 'bytes' ? Buffer.from(value as Uint8Array).toString('base64') : value;
}

function object(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(path, 'an object', value);
  return value as Readonly<Record<string, unknown>>;
}

function mismatch(path: string, expected: string, found: unknown): ShapeError {
  const kind =
    found === null
      ? 'null'
      : Array.isArray(found)
        ? 'a list'
        : typeof found === 'number'
          ? `the number ${found}`
          : typeof found;
  return new ShapeError(`${path} must be ${expected}, but is ${kind}.`);
}
