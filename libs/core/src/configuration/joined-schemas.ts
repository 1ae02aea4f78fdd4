import { type JsonObject, type JsonValue, equalJson, isJsonObject } from '../json.js';

/** Keywords that allow and forbid nothing. */
export const annotations: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
]);

/** Keywords that look at each other inside one schema, so that those of two schemas cannot stand in one. */
const together: readonly (readonly string[])[] = [
  [
    'properties',
    'additionalProperties',
    'patternProperties',
    'unevaluatedProperties',
    'dependentSchemas',
    'dependencies',
  ],
  ['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains'],
];

/**
 * One schema that allows what both allow; null where it takes more than putting their keywords side by side. What `own` says of itself
 * (title, description) wins. A default stays where the server wrote it: that of `part` would be filled in where it is not today.
 */
export function joined(own: JsonObject, part: JsonObject): JsonObject | null {
  if (together.some((keywords) => holdsAny(own, keywords) && holdsAny(part, keywords))) return null;
  const taken = withoutNullable(part).filter(([key]) => key !== 'default' && key !== '$schema');
  const clash = taken.some(
    ([key, value]) => Object.hasOwn(own, key) && !annotations.has(key) && !equalJson(own[key] as JsonValue, value),
  );
  return clash ? null : { ...Object.fromEntries(taken), ...Object.fromEntries(withoutNullable(own)) };
}

/** `nullable` is about the type beside it, which may have come from the other schema. */
function withoutNullable(schema: JsonObject): [string, JsonValue][] {
  return Object.entries(schema).filter(([key, value]) => key !== 'nullable' || typeof value !== 'boolean');
}

/** Whether it takes null by OpenAPI’s keyword, which goes away where it is joined. */
export function isNullable(schema: JsonObject): boolean {
  return schema['nullable'] === true;
}

function holdsAny(schema: JsonObject, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => Object.hasOwn(schema, keyword));
}

export function holdsNull(value: JsonValue | undefined): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.some((item: JsonValue) => holdsNull(item));
  return isJsonObject(value) && Object.values(value).some(holdsNull);
}
