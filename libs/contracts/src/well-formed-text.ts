import avsc from 'avsc';
import type { ForSchemaOptions, Schema, Type } from 'avsc';

/** What avsc’s types have and do not document: how they write a value. */
type Writing<T extends object = object> = new (...given: never[]) => Type & {
  _write(tap: unknown, value: unknown): void;
} & T;

/**
 * avsc writes half a surrogate pair in two ways, by the length of the text, and neither is read back as it was
 * signed. These types write what toWellFormed() makes of it, as signatures do. Texts are well-formed since they came
 * in; this holds even where a way in was forgotten.
 */

class WellFormedText extends (avsc.types.StringType as unknown as Writing) {
  override _write(tap: unknown, text: unknown): void {
    super._write(tap, typeof text === 'string' ? text.toWellFormed() : text);
  }
}

class WellFormedNames extends (avsc.types.MapType as unknown as Writing) {
  override _write(tap: unknown, map: unknown): void {
    super._write(tap, typeof map === 'object' && map !== null ? withNames(map) : map);
  }
}

function withNames(map: object): object {
  if (Object.keys(map).every((name) => name.isWellFormed())) return map;
  return Object.fromEntries(Object.entries(map).map(([name, member]) => [name.toWellFormed(), member as unknown]));
}

const text = new WellFormedText();

/** For `Type.forSchema`. */
export function withWellFormedText(schema: Schema, options: ForSchemaOptions): Type | undefined {
  if (schema === 'string') return text;
  const isMap = typeof schema === 'object' && 'type' in schema && schema.type === 'map';
  return isMap ? new WellFormedNames(schema as never, options as never) : undefined;
}
