import { camelCase, isUnion, recordSchema } from './schema.js';
import type { AvroType } from './schema.js';
import { madeOfPart } from './shared-records.js';
import { isSharedStep } from './shared-steps.js';

/** What one kind of hash or signature has of a record, where it is not all that the record says. */
interface Form {
  /** Names of members as the wire has them, or as the process has them. */
  readonly names: 'wire' | 'process';
  /** In alphabetical order of their names, or as the schema has them. */
  readonly order: 'name' | 'schema';
  /**
   * Whether a value says nothing and is left out; `given` is the default of the member that holds it, undefined where
   * there is none.
   */
  readonly saysNothing: (value: unknown, given: unknown) => boolean;
  /** Members that are left out, in the process’s names, by record. */
  readonly without?: Readonly<Record<string, readonly string[]>>;
}

/** The JSON text of a value; undefined for one that JSON leaves out. */
type Writer = (value: unknown) => string | undefined;

/**
 * Records as JSON text in one form, so that equal records give equal bytes: members come from the schema, texts are
 * well-formed, bytes are base64, maps are sorted by name. So a text is the same before a record was written and
 * after, as Avro and as JSON.
 */
export class CanonicalForm {
  private readonly writers = new Map<string, Writer>();

  constructor(private readonly form: Form) {}

  /** `without` names members of the record itself, as in the process, that are left out. */
  text(name: string, record: object, without: readonly string[] = []): string {
    const writer = this.writerOf(name);
    if (without.length === 0) return writer(record) as string;
    const left: Record<string, unknown> = { ...record };
    for (const member of without) left[member] = null;
    return writer(left) as string;
  }

  private writerOf(record: string): Writer {
    let writer = this.writers.get(record);
    if (writer === undefined) this.writers.set(record, (writer = this.recordWriter(record)));
    return writer;
  }

  private recordWriter(record: string): Writer {
    const { names, order, saysNothing, without } = this.form;
    const members = recordSchema(record)
      .fields.map(({ name: wire, type, default: given }) => {
        const name = camelCase(wire);
        return { name, written: names === 'wire' ? wire : name, write: this.typeWriter(type), given };
      })
      .filter(({ name }) => without?.[record]?.includes(name) !== true);
    if (order === 'name') members.sort((one, other) => (one.written < other.written ? -1 : 1));
    const parts = members.map((member) => ({ ...member, label: `${JSON.stringify(member.written)}:` }));
    /** Of steps: each is written again with each record behind it. */
    const steps = new WeakMap<object, string>();
    return (value) => {
      const from = value as Readonly<Record<string, unknown>>;
      // Request and run of a record are read by several services, and go on with the next one.
      const made = madeOfPart(from);
      const known = steps.get(from) ?? (made?.get(parts) as string | undefined);
      if (known !== undefined) return known;
      const texts: string[] = [];
      for (const { name, label, write, given } of parts) {
        const member = from[name];
        if (saysNothing(member, given)) continue;
        const written = write(member);
        if (written !== undefined) texts.push(label + written);
      }
      const text = `{${texts.join(',')}}`;
      if (made !== undefined) made.set(parts, text);
      else if (isSharedStep(from)) steps.set(from, text);
      return text;
    };
  }

  private typeWriter(type: AvroType): Writer {
    if (isUnion(type)) {
      const write = this.typeWriter(type.find((member) => member !== 'null') ?? 'null');
      return (value) => (value === null ? 'null' : write(value));
    }
    if (typeof type !== 'string') {
      if (type.type === 'array') return this.listWriter(this.typeWriter(type.items));
      if (type.type === 'map') return this.mapWriter(this.typeWriter(type.values));
      return this.writerOf(type.name);
    }
    switch (type) {
      case 'string':
        // JSON can bring half a surrogate pair along, which is no text that can be hashed.
        return (value) => JSON.stringify((value as string).toWellFormed());
      case 'bytes':
        return (value) => `"${Buffer.from(value as Uint8Array).toString('base64')}"`;
      case 'null':
      case 'boolean':
      case 'int':
      case 'long':
      case 'double':
        return (value) => JSON.stringify(value) as string | undefined;
      default:
        // A record named in another: asked for late, since records may name each other.
        return (value) => this.writerOf(type)(value);
    }
  }

  private listWriter(write: Writer): Writer {
    const { saysNothing } = this.form;
    return (value) => {
      const items = (value as readonly unknown[]).map((item) =>
        saysNothing(item, undefined) ? 'null' : (write(item) ?? 'null'),
      );
      return `[${items.join(',')}]`;
    };
  }

  private mapWriter(write: Writer): Writer {
    const { saysNothing } = this.form;
    return (value) => {
      const entries = Object.entries(value as Readonly<Record<string, unknown>>)
        .filter(([, member]) => !saysNothing(member, undefined))
        .map(([name, member]): [string, string | undefined] => [name.toWellFormed(), write(member)]);
      entries.sort(([one], [other]) => (one < other ? -1 : 1));
      // An object has names that are numbers first, and of two that became one the later.
      const texts = Object.entries(Object.fromEntries(entries)).filter(([, text]) => text !== undefined);
      return `{${texts.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
    };
  }
}

/**
 * All that a record says: what is not at its default, under its wire names. So it stays the same when a later schema
 * has more members. New hashes and signatures are over this form; the others are those of former versions.
 */
const content = new CanonicalForm({ names: 'wire', order: 'name', saysNothing: isDefault });

/** The record in its canonical form; `without` names members, as in the process, that are left out: its signatures. */
export function recordContent(name: string, record: object, without: readonly string[] = []): string {
  return content.text(name, record, without);
}

function isDefault(value: unknown, given: unknown): boolean {
  if (given === undefined) return false;
  // Null stands for what is left out.
  if (Array.isArray(given)) return value === null || (value as readonly unknown[]).length === 0;
  if (typeof given === 'object' && given !== null) return value === null || Object.keys(value as object).length === 0;
  return value === given;
}
