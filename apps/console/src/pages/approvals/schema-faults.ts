/** A part of arguments that their schema does not take. */
export interface Fault {
  /** Names and places from the outside in, such as `to.0.name`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

type Schema = Readonly<Record<string, unknown>>;

const mostFaults = 20;
const deepest = 12;

/**
 * What of arguments as JSON text is wrong, as far as it can be seen here: the executor judges the call by its whole
 * schema. Secrets may be left out, since the call keeps its own.
 */
export function faultsIn(text: string, schema: unknown): readonly Fault[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return [{ path: '', message: `This is no JSON: ${error instanceof Error ? error.message : ''}` }];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ path: '', message: 'Arguments are an object, as { … }.' }];
  if (hasLongNumber(text))
    return [
      {
        path: '',
        message: 'A number has more digits than a browser keeps. Use sluice approvals approve --edit for this call.',
      },
    ];
  return check(value, schema, '', 0).slice(0, mostFaults);
}

/** Whether a number stands in the text that would become another one. */
function hasLongNumber(text: string): boolean {
  return /\d{16}|\.\d{16}/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'));
}

function check(value: unknown, schema: unknown, path: string, depth: number): readonly Fault[] {
  if (!isSchema(schema) || depth > deepest || (isSecret(schema) && value === '[redacted]')) return [];
  const fault = (message: string): readonly Fault[] => [{ path, message }];
  const { type, enum: values, const: constant } = schema;
  const types = (Array.isArray(type) ? type : type === undefined ? [] : [type]) as readonly unknown[];
  if (types.length > 0 && !types.some((name) => isOf(value, name)))
    return fault(`must be of the type ${types.join(' or ')}`);
  if (constant !== undefined && !isEqual(value, constant)) return fault(`must be ${JSON.stringify(constant)}`);
  if (Array.isArray(values) && !values.some((one) => isEqual(one, value)))
    return fault(
      `must be one of ${values
        .slice(0, 12)
        .map((one) => JSON.stringify(one))
        .join(', ')}`,
    );
  if (typeof value === 'number') return numberFaults(value, schema).flatMap(fault);
  if (typeof value === 'string') return lengthFaults([...value].length, schema, 'Length', 'characters').flatMap(fault);
  if (Array.isArray(value)) {
    const items = value.flatMap((item, n) => check(item, schema['items'], join(path, String(n)), depth + 1));
    return [...lengthFaults(value.length, schema, 'Items', 'items').flatMap(fault), ...items];
  }
  return typeof value === 'object' && value !== null ? membersOf(value, schema, path, depth) : [];
}

function membersOf(value: object, schema: Schema, path: string, depth: number): readonly Fault[] {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly unknown[]) : [];
  const missing = required.filter((name): name is string => {
    if (typeof name !== 'string' || Object.hasOwn(value, name)) return false;
    const of = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return !(isSchema(of) && isSecret(of));
  });
  const isClosed = schema['additionalProperties'] === false;
  return [
    ...missing.map((name) => ({ path: join(path, name), message: 'is required' })),
    ...Object.entries(value).flatMap(([name, member]): readonly Fault[] => {
      if (Object.hasOwn(properties, name)) return check(member, properties[name], join(path, name), depth + 1);
      return isClosed ? [{ path: join(path, name), message: 'is no argument of the tool' }] : [];
    }),
  ];
}

function numberFaults(value: number, schema: Schema): readonly string[] {
  const limits = [
    ['minimum', 'at least', (limit: number) => value >= limit],
    ['maximum', 'at most', (limit: number) => value <= limit],
    ['exclusiveMinimum', 'more than', (limit: number) => value > limit],
    ['exclusiveMaximum', 'less than', (limit: number) => value < limit],
  ] as const;
  return limits.flatMap(([keyword, words, isMet]) => {
    const limit = schema[keyword];
    return typeof limit === 'number' && !isMet(limit) ? [`must be ${words} ${limit}`] : [];
  });
}

function lengthFaults(length: number, schema: Schema, what: 'Length' | 'Items', unit: string): readonly string[] {
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]];
  if (typeof least === 'number' && length < least) return [`must have at least ${least} ${unit}`];
  return typeof most === 'number' && length > most ? [`must have at most ${most} ${unit}`] : [];
}

function isOf(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const isSecret = (schema: Schema): boolean => schema['writeOnly'] === true || schema['format'] === 'password';

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
