import { camelCase, recordSchema } from './schema.js';
import type { AvroType } from './schema.js';

/**
 * What a record says, in one form for hashes and signatures: JSON with its wire names in alphabetical order, without members that hold their
 * default. So it is the same whether the record lay on the log as Avro or as JSON, and stays the same when a later schema has more members.
 * `without` names members of the record itself, as in the process, that are left out: its signatures.
 */
export function recordContent(name: string, record: object, without: readonly string[] = []): string {
  if (without.length === 0) return JSON.stringify(writerOf(name)(record));
  const left: Record<string, unknown> = { ...record };
  for (const member of without) left[member] = null;
  return JSON.stringify(writerOf(name)(left));
}

type Writer = (value: unknown) => unknown;

interface Member {
  readonly wire: string;
  readonly name: string;
  readonly write: Writer;
  readonly isDefault: (value: unknown) => boolean;
}

const writers = new Map<string, Writer>();

function writerOf(record: string): Writer {
  let writer = writers.get(record);
  if (writer === undefined) {
    writer = recordWriter(record);
    writers.set(record, writer);
  }
  return writer;
}

function recordWriter(record: string): Writer {
  const members: readonly Member[] = recordSchema(record)
    .fields.map(({ name, type, default: given }) => ({
      wire: name,
      name: camelCase(name),
      write: typeWriter(type),
      isDefault: given === undefined ? () => false : isDefault(given),
    }))
    .sort((one, other) => (one.wire < other.wire ? -1 : 1));
  return (value) => {
    const from = value as Readonly<Record<string, unknown>>;
    const written: Record<string, unknown> = {};
    for (const { wire, name, write, isDefault: nothingSaid } of members) {
      const member = from[name];
      if (!nothingSaid(member)) written[wire] = write(member);
    }
    return written;
  };
}

function isDefault(given: unknown): (value: unknown) => boolean {
  if (Array.isArray(given)) return (value) => (value as readonly unknown[]).length === 0;
  if (typeof given === 'object' && given !== null) return (value) => Object.keys(value as object).length === 0;
  return (value) => value === given;
}

function typeWriter(type: AvroType): Writer {
  if (Array.isArray(type)) {
    const write = typeWriter((type as readonly AvroType[]).find((member) => member !== 'null') ?? 'null');
    return (value) => (value === null ? null : write(value));
  }
  if (typeof type !== 'string') {
    const { type: kind } = type as { readonly type: string };
    if (kind === 'array') {
      const write = typeWriter((type as { readonly items: AvroType }).items);
      return (value) => (value as readonly unknown[]).map(write);
    }
    if (kind === 'map') return mapWriter(typeWriter((type as { readonly values: AvroType }).values));
    return writerOf((type as { readonly name: string }).name);
  }
  switch (type) {
    case 'string':
      // JSON can bring half a surrogate pair along, which is no text that can be hashed.
      return (value) => (value as string).toWellFormed();
    case 'bytes':
      return (value) => Buffer.from(value as Uint8Array).toString('base64');
    case 'null':
    case 'int':
    case 'long':
      return (value) => value;
    default:
      // A record named in another: asked for late, since records may name each other.
      return (value) => writerOf(type)(value);
  }
}

function mapWriter(write: Writer): Writer {
  return (value) => {
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.map(([name, member]) => [name.toWellFormed(), write(member)]));
  };
}
