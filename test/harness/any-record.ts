import fc from 'fast-check';
import { camelCase, recordNames, recordSchema } from '@sluice/contracts';
import type { AvroType, RecordOf, Topic } from '@sluice/contracts';

/** The largest that avsc writes. */
const largestLong = Number.MAX_SAFE_INTEGER - 1;

/**
 * Texts of every kind that a JavaScript text can be: halves of surrogate pairs too, and longer than what Avro's
 * writer treats as short.
 */
export const anyText = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'é', '\u{1f600}', '\ud83d', '\ude00', '\ufffd', '\ue000', '"', '\\ud83d', '\0'), {
      maxLength: 8,
    }),
    fc.constantFrom('', 'x'.repeat(70)),
  )
  .map(([pieces, rest]) => pieces.join('') + rest);

/** Any record of the topic, in the shape that the process uses, by its Avro schema alone. */
export function anyRecord<T extends Topic>(topic: T): fc.Arbitrary<RecordOf<T>> {
  return anyOf(recordNames[topic]) as fc.Arbitrary<RecordOf<T>>;
}

function anyOf(type: AvroType): fc.Arbitrary<unknown> {
  if (isUnion(type)) return fc.oneof(...type.map(anyOf));
  if (typeof type === 'object' && 'items' in type) return fc.array(anyOf(type.items), { maxLength: 2 });
  if (typeof type === 'object' && 'values' in type) return fc.dictionary(anyText, anyOf(type.values), { maxKeys: 3 });
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'string':
      return anyText;
    case 'int':
      return fc.nat();
    case 'long':
      return fc.nat({ max: largestLong });
    case 'double':
      // Those that JSON can say; it has one zero.
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));
    case 'boolean':
      return fc.boolean();
    case 'bytes':
      return fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes));
    default:
      return anyFields(typeof type === 'string' ? type : (type as { readonly name: string }).name);
  }
}

function isUnion(type: AvroType): type is readonly AvroType[] {
  return Array.isArray(type);
}

function anyFields(name: string): fc.Arbitrary<unknown> {
  const fields = recordSchema(name).fields.map(({ name: field, type }) => [camelCase(field), anyOf(type)] as const);
  return fc.record(Object.fromEntries(fields));
}
