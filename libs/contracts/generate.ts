/**
 * Writes the records’ types (libs/records), what makes records and the schemas as modules (src/generated) from
 * ../../schemas. Run it with `npm run generate`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Avro = string | Avro[] | { type: string; items?: Avro; values?: Avro };
interface Field {
  name: string;
  type: Avro;
  doc?: string;
  default?: unknown;
  /** Ours: what else has the field of a request, so that it is said beside the schema. No registry gets it. */
  seen_by?: string[];
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
  boolean: 'boolean',
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

/**
 * Which fields of a request the context of a tool and the audit’s entry of the request have: those with `seen_by` in
 * the schema. A tool gets texts alone, where there is one.
 */
function requestViews({ fields }: Definition): string {
  const seenBy = (view: string) => fields.filter((field) => field.seen_by?.includes(view));
  const list = (view: string): string =>
    `[${seenBy(view)
      .map(({ name }) => `'${camelCase(name)}'`)
      .join(', ')}] as const`;
  for (const { name, type, seen_by: views = [] } of fields) {
    if (views.some((view) => view !== 'tool' && view !== 'audit'))
      throw new Error(`${name} is seen by tool and audit, or neither.`);
    if (views.includes('tool') && typeScript(type) !== 'string | null')
      throw new Error(`${name} is not a text or null, so no tool can see it.`);
  }
  return `/** Fields of a request that the context of each tool has, where there is one. */
export const requestFieldsOfTools = ${list('tool')};
/** Fields of a request that its entry in the audit has, where there is one. */
export const requestFieldsOfAudit = ${list('audit')};
`;
}

/** What a tool sees of a request, for core and for authors of tools. */
function requestOfTool({ fields }: Definition): string {
  const seen = fields.filter((field) => field.seen_by?.includes('tool'));
  const members = seen.map(
    ({ name, doc }) => `${doc ? `  /** ${doc} */\n` : ''}  readonly ${camelCase(name)}?: string;\n`,
  );
  return `/** What a tool sees of the request, by \`seen_by\` in schemas/AgentRequest.avsc. */
export ${members.length === 0 ? 'type RequestOfTool = object;' : `interface RequestOfTool {\n${members.join('')}}`}
`;
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
  const table = Object.fromEntries(
    definitions.map(({ fields, ...definition }) => [
      definition.name,
      { ...definition, fields: fields.map(({ seen_by: _, ...field }) => field) },
    ]),
  );
  const request = definitions.find(({ name }) => name === 'AgentRequest');
  if (request === undefined) throw new Error('There is no schemas/AgentRequest.avsc.');
  return {
    'records/src/generated/records.ts': `${note}\n${[...definitions.map(interfaceOf), namesOf(definitions)].join('\n')}`,
    'contracts/src/generated/make.ts': makers(definitions),
    'core/src/generated/request-views.ts': `${note}${requestOfTool(request)}${requestViews(request)}`,
    '../types/request-of-tool.d.ts': `${note}${requestOfTool(request)}`,
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
