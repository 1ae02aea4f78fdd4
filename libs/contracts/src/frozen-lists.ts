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
type Arrays = new (schema: Schema, options: ForSchemaOptions) => Type & { _write(tap: Tap, list: unknown): void };

/** The bytes of a list, as the array of this type has them. */
interface Written {
  readonly by: Type;
  readonly bytes: Buffer;
}

const written = new WeakMemory<readonly unknown[], Written>(4_194_304);
/** Shorter lists cost little to write, and most are made for one record. */
const worthKeeping = 8;

/**
 * An array that writes a frozen list once: what is offered and hidden is the same for all decisions of the same groups and state, and from the
 * second time on its bytes are copied. Whoever freezes a list says so that nothing within it changes any more either.
 */
class ArrayOfFrozen extends (avsc.types.ArrayType as unknown as Arrays) {
  override _write(tap: Tap, list: unknown): void {
    if (!Array.isArray(list) || list.length < worthKeeping || !Object.isFrozen(list)) return super._write(tap, list);
    const known = written.find(list);
    if (known?.by === this) return tap.writeFixed(known.bytes);
    const from = tap.pos;
    super._write(tap, list);
    // Else there was no room, and it is written once more.
    if (tap.isValid())
      written.keep(list, { by: this, bytes: Buffer.from(tap.buf.subarray(from, tap.pos)) }, tap.pos - from);
  }
}

/** For `Type.forSchema`. */
export function withFrozenLists(schema: Schema, options: ForSchemaOptions): Type | undefined {
  const isArray = typeof schema === 'object' && 'type' in schema && schema.type === 'array';
  return isArray ? new ArrayOfFrozen(schema, options) : undefined;
}
