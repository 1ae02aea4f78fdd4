import { equalJson, isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** Keywords that allow and forbid nothing. */
const annotations: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  'example',
  'externalDocs',
  'xml',
]);

/** Whether what the keyword says allows and forbids nothing: OpenAPI’s extensions are its tools’ own. */
export function isAnnotation(keyword: string): boolean {
  return annotations.has(keyword) || keyword.startsWith('x-');
}

/** Keywords that look at each other inside one schema, so that those of two schemas cannot stand in one. */
const ofObjects = ['patternProperties', 'unevaluatedProperties', 'dependentSchemas', 'dependencies'] as const;
const ofArrays = [
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains'],
];

/**
 * One schema that allows what both allow; null where it takes more than putting their keywords side by side. What
 * `own` says of itself (title, description) wins. A default stays where the server wrote it: that of `part` would be
 * filled in where it is not today.
 */
export function joined(own: JsonObject, part: JsonObject): JsonObject | null {
  if (holdsAny(own, ofArrays) && holdsAny(part, ofArrays)) return null;
  const members = joinedMembers(own, part);
  if (members === null) return null;
  const taken = withoutNullable(part).filter(
    ([key]) => key !== 'default' && key !== '$schema' && !Object.hasOwn(members, key),
  );
  const clash = taken.some(
    ([key, value]) => Object.hasOwn(own, key) && !isAnnotation(key) && !equalJson(own[key] as JsonValue, value),
  );
  return clash ? null : { ...Object.fromEntries(taken), ...Object.fromEntries(withoutNullable(own)), ...members };
}

/**
 * The names that two schemas of objects allow and require: empty where at most one of them says anything, null where
 * it cannot be said.
 */
function joinedMembers(own: JsonObject, part: JsonObject): JsonObject | null {
  const required = requiredByBoth(own, part);
  const keywords = ['properties', 'additionalProperties', ...ofObjects];
  if (!holdsAny(own, keywords) || !holdsAny(part, keywords)) return required;
  if (holdsAny(own, ofObjects) || holdsAny(part, ofObjects)) return null;
  const [mine, others] = [membersOf(own), membersOf(part)];
  if (mine === null || others === null) return null;
  const isClosed = mine.isClosed || others.isClosed;
  const properties: [string, JsonValue][] = [];
  for (const name of new Set([...Object.keys(mine.properties), ...Object.keys(others.properties)])) {
    const both = [mine, others].map((one) =>
      Object.hasOwn(one.properties, name) ? one.properties[name] : one.isClosed ? false : {},
    );
    const whole = joinedMember(both[0] as JsonValue, both[1] as JsonValue);
    if (whole === null) return null;
    if (whole !== false || !isClosed) properties.push([name, whole]);
  }
  const names = new Set(properties.map(([name]) => name));
  // Nothing would fit.
  if (
    isClosed &&
    [own, part].some((one) => (one['required'] as JsonValue[] | undefined)?.some((name) => !names.has(String(name))))
  )
    return null;
  return {
    properties: Object.fromEntries(properties),
    ...(isClosed ? { additionalProperties: false } : {}),
    ...required,
  };
}

function requiredByBoth({ required: own }: JsonObject, { required: part }: JsonObject): JsonObject {
  if (!Array.isArray(own) || !Array.isArray(part)) return {};
  return { required: [...new Set<JsonValue>([...(own as JsonValue[]), ...(part as JsonValue[])])] };
}

function joinedMember(own: JsonValue, part: JsonValue): JsonValue | null {
  if (own === false || part === false) return false;
  if (!isJsonObject(own) || Object.keys(own).length === 0) return part;
  return !isJsonObject(part) || Object.keys(part).length === 0 ? own : joined(own, part);
}

/** Null where what is not named has a schema of its own. */
function membersOf({
  properties = {},
  additionalProperties = true,
}: JsonObject): { readonly properties: JsonObject; readonly isClosed: boolean } | null {
  if (!isJsonObject(properties) || typeof additionalProperties !== 'boolean') return null;
  return { properties, isClosed: !additionalProperties };
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
