import { isJsonObject } from '@sluice/core';
import type { JsonValue, Redaction } from '@sluice/core';

/**
 * Keeps what the allowlist names: of an object its top-level fields, of an array those of each element. Throws where
 * the list is empty or the value has no fields to choose from; only `whole` lets such a value pass.
 */
export function redact(redaction: Redaction, output: JsonValue): JsonValue {
  if ('whole' in redaction) return output;
  if (redaction.fields.length === 0) throw new Error('The redaction names no field, so nothing may leave the tool.');
  if (Array.isArray(output)) return output.map((item: JsonValue) => keep(redaction.fields, item));
  return keep(redaction.fields, output);
}

function keep(fields: readonly string[], value: JsonValue): JsonValue {
  if (!isJsonObject(value))
    throw new Error('The redaction names fields, and the value has none: write `whole` to let it pass.');
  return Object.fromEntries(
    fields.flatMap((field) => (Object.hasOwn(value, field) ? [[field, value[field] as JsonValue]] : [])),
  );
}
