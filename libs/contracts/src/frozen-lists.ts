import avsc from 'avsc';
import type { ForSchemaOptions, Schema, Type } from 'avsc';
import { WeakMemory } from '@sluice/core';

/** What avsc's types write with. */
interface Tap {
  readonly buf: Buffer;
  readonly pos: number;
  isValid(): boolean;
  writeFixed(bytes: Buffer): void;
}

/** avsc’s array, by what it does not document: what each type writes. */
type Arrays = new (
  schema: Schema,
  options: ForSchemaOptions,
) => Type & { readonly itemsType: Type; _write(tap: Tap, list: unknown): void };

/** The bytes of a list, as the array of this type has them. */
interface Written {
  readonly by: Type;
  readonly bytes: Buffer;
}

const written = new WeakMemory<readonly unknown[], Written>(4_194_304);
/** Most lists are made for one record: what is written a second time is kept. */
const writtenBefore = new WeakSet<readonly unknown[]>();
/** Fewer names than these cost little to write. */
const worthKeeping = 8;

/**
 * An array that keeps the bytes of a frozen list when it writes it a second time, and copies them from then on: what
 * is offered and hidden is shared by most decisions of the same groups and state. A frozen list must be deeply
 * immutable.
 */
class ArrayOfFrozen extends (avsc.types.ArrayType as unknown as Arrays) {
  override _write(tap: Tap, list: unknown): void {
    if (!mayBeKept(list, this.itemsType)) return super._write(tap, list);
    const known = written.find(list);
    if (known?.by === this) return tap.writeFixed(known.bytes);
    const from = tap.pos;
    super._write(tap, list);
    // Where there was no room, it is written once more.
    if (!tap.isValid()) return;
    if (writtenBefore.has(list)) written.keep(list, { by: this, bytes: copyOf(tap, from) }, tap.pos - from);
    else writtenBefore.add(list);
  }
}

function mayBeKept(list: unknown, { typeName }: Type): list is readonly unknown[] {
  return Array.isArray(list) && (typeName === 'record' || list.length >= worthKeeping) && Object.isFrozen(list);
}

/** Not a part of Node's pool, of which a few bytes would keep 8 KB. */
function copyOf({ buf, pos }: Tap, from: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(pos - from);
  buf.copy(bytes, 0, from, pos);
  return bytes;
}

/** For `Type.forSchema`. */
export function withFrozenLists(schema: Schema, options: ForSchemaOptions): Type | undefined {
  const isArray = typeof schema === 'object' && 'type' in schema && schema.type === 'array';
  return isArray ? new ArrayOfFrozen(schema, options) : undefined;
}
