import { equalJson, isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** Levels that are looked at: discriminators stand at the top. */
const deepest = 4;

/** The schema that a `$ref` names, for what stands beside it only narrows it; null where there is none. */
type Follow = (schema: JsonObject) => JsonObject | null;

/**
 * Whether no value fits both schemas. Looks at types, constants, required names and closed objects, each of which is
 * a condition by itself: what else a schema says only makes it narrower. False where it cannot be seen.
 */
export function areDisjoint(one: JsonObject, other: JsonObject, follow: Follow, levels = deepest): boolean {
  const [a, b] = [follow(one), follow(other)];
  if (a === null || b === null) return false;
  const [left, right] = [valuesOf(a), valuesOf(b)];
  if (left !== null && right !== null && !left.some((value) => right.some((also) => equalJson(value, also))))
    return true;
  const [mine, others] = [typesOf(a), typesOf(b)];
  if (mine !== null && others !== null && !mine.some((type) => others.includes(type))) return true;
  // Names say nothing of what is no object.
  if (levels === 0 || mine?.length !== 1 || mine[0] !== 'object') return false;
  return [...requiredOf(a), ...requiredOf(b)].some((name) => {
    const [here, there] = [memberOf(a, name), memberOf(b, name)];
    if (here === false || there === false) return true;
    return isJsonObject(here) && isJsonObject(there) && areDisjoint(here, there, follow, levels - 1);
  });
}

function valuesOf(schema: JsonObject): readonly JsonValue[] | null {
  if (schema['nullable'] === true) return null;
  if (Object.hasOwn(schema, 'const')) return [schema['const'] as JsonValue];
  return Array.isArray(schema['enum']) ? (schema['enum'] as readonly JsonValue[]) : null;
}

/** An integer is a number too. */
function typesOf({ type, nullable }: JsonObject): readonly JsonValue[] | null {
  const types: readonly JsonValue[] = typeof type === 'string' ? [type] : Array.isArray(type) ? type : [];
  if (types.length === 0) return null;
  const named = types.map((one) => (one === 'integer' ? 'number' : one));
  return nullable === true ? [...named, 'null'] : named;
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}

/** What a schema says of a member: false where it must not be there, undefined where it says nothing. */
function memberOf(
  { properties, additionalProperties, patternProperties }: JsonObject,
  name: string,
): JsonValue | undefined {
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  return patternProperties === undefined && additionalProperties === false ? false : undefined;
}
