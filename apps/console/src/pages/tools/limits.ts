/** What a schema says of the values of one argument, in words. */
export function limitsOf(schema: unknown): readonly string[] {
  if (!isSchema(schema)) return [];
  const words = keywords.flatMap(([keyword, inWords]) => {
    const value = schema[keyword];
    return value === undefined ? [] : [inWords(value)];
  });
  return [...words, ...limitsOf(schema['items']).map((each) => `each ${each}`)];
}

/** Of an argument of a tool: its limits, each with whether the tool’s own schema has it too. */
export function limitsIn(schema: unknown, configured: unknown, name: string): readonly Limit[] {
  const own = new Set(limitsOf(propertyOf(configured, name)));
  const isKnown = propertyOf(configured, name) !== undefined;
  return limitsOf(propertyOf(schema, name)).map((words) => ({ words, isNarrowed: isKnown && !own.has(words) }));
}

/** Arguments of the tool that models are not offered, since they may not be given. */
export function withheldFrom(schema: unknown, configured: unknown): readonly string[] {
  const [offered, own] = [propertiesOf(schema), propertiesOf(configured)];
  return offered === null || own === null ? [] : Object.keys(own).filter((name) => !Object.hasOwn(offered, name));
}

export interface Limit {
  readonly words: string;
  readonly isNarrowed: boolean;
}

type Schema = Readonly<Record<string, unknown>>;

const shownValues = 12;

const keywords: readonly (readonly [string, (value: unknown) => string])[] = [
  ['const', (value) => `is ${text(value)}`],
  ['enum', (value) => `one of ${valuesIn(value)}`],
  ['minimum', (value) => `at least ${text(value)}`],
  ['maximum', (value) => `at most ${text(value)}`],
  ['exclusiveMinimum', (value) => `more than ${text(value)}`],
  ['exclusiveMaximum', (value) => `less than ${text(value)}`],
  ['minLength', (value) => `at least ${text(value)} characters`],
  ['maxLength', (value) => `at most ${text(value)} characters`],
  ['minItems', (value) => `at least ${text(value)} items`],
  ['maxItems', (value) => `at most ${text(value)} items`],
  ['pattern', (value) => `with the pattern ${text(value)}`],
];

function valuesIn(value: unknown): string {
  if (!Array.isArray(value)) return text(value);
  const more = value.length - shownValues;
  return `${value.slice(0, shownValues).map(text).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function propertyOf(schema: unknown, name: string): unknown {
  const properties = propertiesOf(schema);
  return properties !== null && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function propertiesOf(schema: unknown): Schema | null {
  const properties = isSchema(schema) ? schema['properties'] : undefined;
  return isSchema(properties) ? properties : null;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
