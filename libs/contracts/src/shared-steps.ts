import avsc from 'avsc';
import type { ForSchemaOptions, Schema, Type } from 'avsc';
import { deepFrozen } from './shared-records.js';

/** What avsc's types read from and write to. */
interface Tap {
  readonly buf: Buffer;
  pos: number;
  isValid(): boolean;
  readLong(): number;
  skipLong(): void;
  writeLong(n: number): void;
}

/** What avsc does not document of its types. */
interface Inside {
  _read(tap: Tap): object;
  _skip(tap: Tap): void;
  _write(tap: Tap, value: unknown): void;
  _update(resolver: { _read?: unknown }, writer: Type, options: unknown): void;
}

/** avsc’s array, by what it does not document. */
type Arrays = new (
  schema: Schema,
  options: ForSchemaOptions,
) => Type & Inside & { readonly itemsType: Type & Inside & { readonly name?: string } };

/** Larger ones are made for each record, and so are those beyond so many bytes in all, from the oldest on. */
const largest = 16_384;
const limit = 2 * 1_048_576;

/** Steps by their bytes, a character a byte: those that were wanted lately, and those of before. */
let lately = new Map<string, object>();
let before = new Map<string, object>();
let weight = 0;
/** The bytes of each. */
const bytesOf = new WeakMap<object, string>();

/**
 * A history. Each record of a run repeats the steps of the one before, so a step whose bytes were read before is the
 * same object, deeply frozen, and its bytes are copied when it is written: what is made of it once is found with it.
 */
class ArrayOfSteps extends (avsc.types.ArrayType as unknown as Arrays) {
  override _read(tap: Tap): object {
    const steps: object[] = [];
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      // A negative count stands before the size of its block.
      if (count < 0) tap.skipLong();
      for (let left = Math.abs(count); left > 0; left--) {
        steps.push(this.step(tap));
        // What is cut short would be read for as long as it says that there is more.
        if (!tap.isValid()) return steps;
      }
    }
    return steps;
  }

  override _write(tap: Tap, steps: unknown): void {
    if (!Array.isArray(steps)) return super._write(tap, steps);
    if (steps.length > 0) {
      tap.writeLong(steps.length);
      for (const step of steps as readonly object[]) this.writeStep(tap, step);
    }
    tap.writeLong(0);
  }

  /** What another version wrote has other bytes for the same step. */
  override _update(resolver: { _read?: unknown }, writer: Type, options: unknown): void {
    super._update(resolver, writer, options);
    if (resolver._read !== undefined) resolver._read = super._read.bind(resolver as this);
  }

  private step(tap: Tap): object {
    const from = tap.pos;
    this.itemsType._skip(tap);
    const to = tap.pos;
    if (!tap.isValid() || to - from > largest) {
      tap.pos = from;
      return this.itemsType._read(tap);
    }
    const bytes = tap.buf.toString('latin1', from, to);
    const known = lately.get(bytes) ?? before.get(bytes);
    if (known !== undefined) {
      keep(bytes, known);
      return known;
    }
    tap.pos = from;
    const step = deepFrozen(this.itemsType._read(tap));
    bytesOf.set(step, bytes);
    keep(bytes, step);
    return step;
  }

  private writeStep(tap: Tap, step: object): void {
    const bytes = bytesOf.get(step);
    if (bytes === undefined) return this.itemsType._write(tap, step);
    if (tap.pos + bytes.length <= tap.buf.length) tap.buf.write(bytes, tap.pos, 'latin1');
    tap.pos += bytes.length;
  }
}

function keep(bytes: string, step: object): void {
  if (lately.has(bytes)) return;
  weight += bytes.length;
  if (weight > limit / 2) {
    before = lately;
    lately = new Map();
    weight = bytes.length;
  }
  lately.set(bytes, step);
}

/** Whether it is a step that was read, and so is frozen. */
export function isSharedStep(value: object): boolean {
  return bytesOf.has(value);
}

/** For `Type.forSchema` with today’s schema, and no other: steps are known by their bytes alone. */
export function withSharedSteps(schema: Schema, options: ForSchemaOptions): Type | undefined {
  const isHistory =
    typeof schema === 'object' &&
    'type' in schema &&
    schema.type === 'array' &&
    nameOf((schema as { readonly items: unknown }).items) === 'AgentStep';
  return isHistory ? new ArrayOfSteps(schema, options) : undefined;
}

/** Where a record stands for the first time, its definition stands. */
function nameOf(items: unknown): unknown {
  const name = typeof items === 'object' && items !== null && 'name' in items ? items.name : items;
  return typeof name === 'string' ? name.split('.').at(-1) : undefined;
}
