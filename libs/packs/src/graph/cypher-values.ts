import { ToolUserError } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import type { Value } from './cypher-sizes.js';
import { computed, fromJson, integer, isNumeric, jsonNumber, numericOf } from './integers.js';
import type { GraphNode, GraphRelationship, Properties } from './store.js';

export function isNode(value: Value): value is GraphNode {
  return typeof value === 'object' && value !== null && 'labels' in value && 'key' in value;
}

function isRelationship(value: Value): value is GraphRelationship {
  return typeof value === 'object' && value !== null && 'from' in value && 'to' in value && 'type' in value;
}

export function propertyOf(value: Value, name: string): Value {
  if (isNode(value) || isRelationship(value)) return fromJson(value.properties[name]);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return fromJson((value as Properties)[name]);
  return null;
}

/** Null where Cypher says null: what is unknown equals nothing. */
export function applied(operator: string, [a, b]: readonly Value[]): Value {
  const [left, right] = [a ?? null, b ?? null];
  switch (operator) {
    case 'IS NULL':
      return left === null;
    case 'IS NOT NULL':
      return left !== null;
    case 'NOT':
      return left === null ? null : left !== true;
    case 'AND':
      return left === false || right === false
        ? false
        : left === null || right === null
          ? null
          : left === true && right === true;
    case 'OR':
      return left === true || right === true ? true : left === null || right === null ? null : false;
    case '=':
      return same(left, right);
    case '<>': {
      const equal = same(left, right);
      return equal === null ? null : !equal;
    }
    case 'MINUS':
      return isNumeric(left) ? computed('-', 0, left) : null;
  }
  if (left === null || right === null) return null;
  switch (operator) {
    case 'XOR':
      return (left === true) !== (right === true);
    case 'IN':
      return Array.isArray(right) && right.some((each: Value) => same(left, each) === true);
    case 'CONTAINS':
      return typeof left === 'string' && typeof right === 'string' && left.includes(right);
    case 'STARTS WITH':
      return typeof left === 'string' && typeof right === 'string' && left.startsWith(right);
    case 'ENDS WITH':
      return typeof left === 'string' && typeof right === 'string' && left.endsWith(right);
    case '+':
      if (isNumeric(left) && isNumeric(right)) return computed('+', left, right);
      if (Array.isArray(left)) return [...(left as Value[]), ...(Array.isArray(right) ? (right as Value[]) : [right])];
      return `${String(left)}${String(right)}`;
  }
  if (kindOf(left) !== kindOf(right)) return null;
  if (operator === '<') return compare(left, right) < 0;
  if (operator === '<=') return compare(left, right) <= 0;
  if (operator === '>') return compare(left, right) > 0;
  if (operator === '>=') return compare(left, right) >= 0;
  return isNumeric(left) && isNumeric(right) ? computed(operator, left, right) : null;
}

const kindOf = (value: Value): string => (isNumeric(value) ? 'number' : typeof value);

/** What a function of Cypher gives; `nodes` by their keys. Throws ToolUserError for one that there is not. */
export function callOf(name: string, args: readonly Value[], nodes: ReadonlyMap<string, GraphNode>): Value {
  const [first, second, third] = args;
  const asText = typeof first === 'string' ? first : null;
  switch (name) {
    case 'coalesce':
      return args.find((each) => each !== null && each !== undefined) ?? null;
    case 'exists':
      return first !== null && first !== undefined && first !== false;
    case 'labels':
      return isNode(first) ? first.labels : null;
    case 'type':
      return isRelationship(first) ? first.type : null;
    case 'id':
    case 'elementid':
      return isNode(first) ? first.key : null;
    case 'keys':
      return isNode(first) || isRelationship(first) ? Object.keys(first.properties) : null;
    case 'properties':
      return isNode(first) || isRelationship(first) ? first.properties : null;
    case 'startnode':
      return isRelationship(first) ? nodes.get(first.from) : null;
    case 'endnode':
      return isRelationship(first) ? nodes.get(first.to) : null;
    case 'size':
    case 'length':
      return typeof first === 'string' || Array.isArray(first) ? first.length : null;
    case 'head':
      return Array.isArray(first) ? ((first[0] as Value) ?? null) : null;
    case 'last':
      return Array.isArray(first) ? ((first.at(-1) as Value) ?? null) : null;
    case 'tolower':
      return asText?.toLowerCase() ?? null;
    case 'toupper':
      return asText?.toUpperCase() ?? null;
    case 'trim':
      return asText?.trim() ?? null;
    case 'substring':
      return asText?.slice(Number(second), third === undefined ? undefined : Number(second) + Number(third)) ?? null;
    case 'split':
      return asText?.split(String(second)) ?? null;
    case 'replace':
      if ((asText?.length ?? 0) * String(third).length > 1_000_000)
        throw new ToolUserError('The query makes a text that is too long.');
      return asText?.replaceAll(String(second), String(third)) ?? null;
    case 'tostring':
      return first === null || first === undefined
        ? null
        : typeof first === 'object'
          ? JSON.stringify(plain(first))
          : String(first);
    case 'tointeger':
      return whole(typeof first === 'string' ? numericOf(first) : first);
    case 'tofloat':
      return Number.isFinite(Number(first ?? Number.NaN)) ? Number(first) : null;
    case 'abs':
      return isNumeric(first) ? (first < 0 ? computed('-', 0, first) : first) : null;
    case 'round':
      return typeof first === 'number' ? Math.round(first) : typeof first === 'bigint' ? first : null;
    default:
      throw new ToolUserError(`The embedded graph has no function ${name.slice(0, 40)}().`);
  }
}

function whole(value: Value): Value {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return integer(BigInt(Math.trunc(value)));
}

/** Null where one of them is unknown. */
export function same(a: Value, b: Value): boolean | null {
  if (a === null || a === undefined || b === null || b === undefined) return null;
  if (isNumeric(a) && isNumeric(b)) return compare(a, b) === 0;
  return typeof a === 'object' || typeof b === 'object' ? text(a) === text(b) : a === b;
}

const rank = ['object', 'string', 'boolean', 'number', 'undefined'];

/** The order of sorting: by kind, then by value; what is unknown comes last. */
export function compare(a: Value, b: Value): number {
  const [left, right] = [a ?? undefined, b ?? undefined];
  if (kindOf(left) !== kindOf(right)) return rank.indexOf(kindOf(left)) - rank.indexOf(kindOf(right));
  if (isNumeric(left) && isNumeric(right)) return left < right ? -1 : left > right ? 1 : 0;
  const [first, second] = [
    typeof left === 'string' ? left : text(left),
    typeof right === 'string' ? right : text(right),
  ];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** One text for equal values. */
export function text(value: Value): string {
  return JSON.stringify(
    isNode(value)
      ? ['node', value.key]
      : Array.isArray(value)
        ? value.map((each: Value) => text(each))
        : isNumeric(value)
          ? jsonNumber(value)
          : (value ?? null),
  );
}

/** A node with its labels, a relationship with its type. */
export function plain(value: Value): JsonValue {
  if (isNode(value)) return { labels: [...value.labels], ...value.properties };
  if (isRelationship(value)) return { type: value.type, ...value.properties };
  if (Array.isArray(value)) return value.map((each: Value) => plain(each));
  if (isNumeric(value)) return jsonNumber(value);
  return (value as JsonValue | undefined) ?? null;
}
