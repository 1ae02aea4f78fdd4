/** Writes the records’ types (libs/records), what makes records and the schemas as modules (src/generated) from ../../schemas. Run it with `npm run generate`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Avro = string | Avro[] | { type: string; items?: Avro; values?: Avro };
interface Field {
  name: string;
  type: Avro;
  doc?: string;
  default?: unknown;
}
interface Definition {
  name: string;
  doc?: string;
  fields: Field[];
}

const scalars: Record<string, string> = {
  null: 'null',
  string: 'string',
  int: 'number',
  long: 'number',
  double: 'number',
  bytes: 'Uint8Array',
};
const note = '// Generated from schemas/ by `npm run generate`. Do not edit.\n';

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function typeScript(type: Avro): string {
  if (Array.isArray(type))
    return type
      .map(typeScript)
      .sort((a, b) => Number(a === 'null') - Number(b === 'null'))
      .join(' | ');
  if (typeof type === 'string') return scalars[type] ?? type;
  if (type.type === 'array') return `readonly ${wrap(typeScript(type.items as Avro))}[]`;
  if (type.type === 'map') return `Readonly<Record<string, ${typeScript(type.values as Avro)}>>`;
  return typeScript(type.type);
}

function wrap(type: string): string {
  return type.includes(' ') ? `(${type})` : type;
}

function interfaceOf(definition: Definition): string {
  const members = definition.fields.map(
    (field) =>
      `${field.doc ? `  /** ${field.doc} */\n` : ''}  readonly ${camelCase(field.name)}: ${typeScript(field.type)};`,
  );
  return `/** ${definition.doc ?? definition.name} */\nexport interface ${definition.name} {\n${members.join('\n')}\n}\n`;
}

/** A function that makes a record of what the schema has no default for, and of what else is given. */
function makerOf({ name, fields }: Definition): string {
  const needed = fields.filter((field) => !('default' in field)).map((field) => `'${camelCase(field.name)}'`);
  const given = needed.length === 0 ? `Partial<${name}> = {}` : `Given<${name}, ${needed.join(' | ')}>`;
  const defaults = fields.flatMap((field) =>
    'default' in field ? [`${camelCase(field.name)}: ${JSON.stringify(field.default)}`] : [],
  );
  const maker = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  return `export const ${maker} = (given: ${given}): ${name} => ({ ${[...defaults, '...given'].join(', ')} });`;
}

function makers(definitions: readonly Definition[]): string {
  const names = definitions.map(({ name }) => name).join(', ');
  const given = 'type Given<R, Needed extends keyof R> = Pick<R, Needed> & Partial<R>;';
  return `${note}import type { ${names} } from '@sluice/records';\n\n${given}\n\n${definitions.map(makerOf).join('\n')}\n`;
}

/** The records by their names. */
function namesOf(definitions: readonly Definition[]): string {
  const members = definitions.map(({ name }) => `  readonly ${name}: ${name};\n`);
  return `/** The records by the names that they have in schemas/. */\nexport interface RecordTypes {\n${members.join('')}}\n`;
}

/** The generated files by their path from libs. */
export function generate(schemaFolder: string): Record<string, string> {
  const definitions = readdirSync(schemaFolder)
    .filter((file) => file.endsWith('.avsc'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(schemaFolder, file), 'utf8')) as Definition);
  const table = Object.fromEntries(definitions.map((definition) => [definition.name, definition]));
  return {
    'records/src/generated/records.ts': `${note}\n${[...definitions.map(interfaceOf), namesOf(definitions)].join('\n')}`,
    'contracts/src/generated/make.ts': makers(definitions),
    'contracts/src/generated/schemas.ts': `${note}\nexport const schemas = ${JSON.stringify(table, null, 2)} as const;\n`,
  };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(generate(join(import.meta.dirname, '../../schemas')))) {
    const file = join(import.meta.dirname, '..', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
