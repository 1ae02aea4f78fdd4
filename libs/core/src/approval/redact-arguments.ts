import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';

/** What stands where a secret stood. */
export const redacted = '[redacted]';

/**
 * A call’s arguments as its approver sees them: what the tool’s input schema marks as a secret (`writeOnly: true`, or
 * `format: password`) is left out, at any depth; all else stays, since an approver must see what it approves.
 */
export function redactArguments(args: JsonValue, schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return args;
  if (schema['writeOnly'] === true || schema['format'] === 'password') return redacted;
  if (Array.isArray(args)) return args.map((item: JsonValue) => redactArguments(item, schema['items']));
  if (!isJsonObject(args)) return args;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const members = Object.entries(args as JsonObject).map(([name, value]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
    return [name, redactArguments(value, own)] as const;
  });
  return Object.fromEntries(members);
}
