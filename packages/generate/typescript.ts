import { isTime, isUnion, nameOf, note, queriesOf } from './description.ts';
import type { Avro, AvroRecord, Description, Schema } from './description.ts';

/** The types of the gateway’s description. Answers may have more members in a later version; bodies have these only. */
export function typesOfApi(description: Description): string {
  const schemas = Object.entries(description.components.schemas).map(([name, schema]) =>
    declaration(name, schema.description ?? name, membersOf(schema)),
  );
  const queries = queriesOf(description).map(([name, { summary }, parameters]) =>
    declaration(
      name,
      `The query of: ${summary}.`,
      parameters.map((parameter) => [
        parameter.name,
        parameter.required === true,
        // A time may be milliseconds too.
        isTime(parameter) ? 'string | number' : typeOf(parameter.schema),
        parameter.description,
      ]),
    ),
  );
  return `// ${note}\n\n${[...schemas, ...queries].join('\n')}`;
}

type Member = readonly [name: string, isRequired: boolean, type: string, doc: string];

function membersOf({ properties = {}, required = [] }: Schema): readonly Member[] {
  return Object.entries(properties).map(([name, schema]) => [
    name,
    required.includes(name),
    typeOf(schema),
    schema.description ?? '',
  ]);
}

function declaration(name: string, doc: string, members: readonly Member[]): string {
  const lines = members.map(
    ([member, isRequired, type, about]) =>
      `${about === '' ? '' : `  /** ${about} */\n`}  readonly ${member}${isRequired ? '' : '?'}: ${type};\n`,
  );
  return `/** ${doc} */\nexport interface ${name} {\n${lines.join('')}}\n`;
}

function typeOf(schema: Schema): string {
  const { $ref, anyOf, enum: values, type, items, additionalProperties } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ');
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (type === undefined) return 'unknown';
  if (typeof type !== 'string') return type.map((one) => typeOf({ ...schema, type: one })).join(' | ');
  if (type === 'array') return `readonly ${wrapped(typeOf(items ?? {}))}[]`;
  if (type === 'integer') return 'number';
  if (type !== 'object') return type;
  if (typeof additionalProperties !== 'object') return 'Readonly<Record<string, unknown>>';
  return `Readonly<Record<string, ${typeOf(additionalProperties)}>>`;
}

/** The records as they are on the bus: with the names of the schemas, and a long as a number. */
export function typesOfRecords(records: readonly AvroRecord[]): string {
  const types = records.map(({ name, doc = name, fields }) =>
    declaration(
      name,
      doc,
      fields.map((field) => [field.name, true, avroType(field.type), field.doc ?? '']),
    ),
  );
  return `// ${note}\n\n${types.join('\n')}`;
}

const scalars: Readonly<Record<string, string>> = {
  int: 'number',
  long: 'number',
  double: 'number',
  bytes: 'Uint8Array',
};

function avroType(type: Avro): string {
  if (typeof type === 'string') return scalars[type] ?? type;
  if (isUnion(type))
    return [...type]
      .sort((one, other) => Number(one === 'null') - Number(other === 'null'))
      .map(avroType)
      .join(' | ');
  if (type.type === 'array') return `readonly ${wrapped(avroType(type.items ?? 'null'))}[]`;
  if (type.type === 'map') return `Readonly<Record<string, ${avroType(type.values ?? 'null')}>>`;
  return avroType(type.type === 'record' ? (type.name ?? '') : type.type);
}

function wrapped(type: string): string {
  return type.includes(' ') ? `(${type})` : type;
}
