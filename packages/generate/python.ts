import { isTime, isUnion, nameOf, note, queriesOf } from './description.ts';
import type { Avro, AvroRecord, Description, Schema } from './description.ts';

const head = `"""${note}"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """What the gateway answers with. A later version may have more members."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())


class Body(BaseModel):
    """What the gateway takes: these members and no others. Only those that are given are sent."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())
`;

/** A model that names a later one is complete only now; models derived from it elsewhere need it complete. */
const rebuilt = (...bases: readonly string[]): string =>
  bases
    .map(
      (base) => `for _${base.toLowerCase()} in ${base}.__subclasses__():\n    _${base.toLowerCase()}.model_rebuild()\n`,
    )
    .join('\n');

/** Pydantic’s models of the gateway’s description. */
export function modelsOfApi(description: Description): string {
  const schemas = Object.entries(description.components.schemas).map(([name, schema]) => modelOf(name, schema));
  const queries = queriesOf(description).map(([name, { summary }, parameters]) => {
    const members = parameters.map((parameter) => {
      const type = isTime(parameter) ? 'str | int' : typeOf(parameter.schema);
      return `    ${attributeOf(parameter.name)}: ${type}\n    ${documented(parameter.description)}\n`;
    });
    return `class ${name}(TypedDict, total=False):\n    ${documented(`The query of: ${summary}.`)}\n\n${members.join('\n')}`;
  });
  return [head, ...schemas, ...queries, rebuilt('Answer', 'Body')].join('\n\n');
}

function modelOf(name: string, schema: Schema): string {
  const isBody = schema.additionalProperties === false;
  const { description = name, properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([member, of]) => {
    const type = typeOf(of, isBody);
    const isRequired = required.includes(member);
    const optional = /\bNone\b|^Any$/.test(type) ? type : `${type} | None`;
    const about = `${aliasOf(member)}description=${JSON.stringify(of.description ?? '')}`;
    return isRequired
      ? `    ${attributeOf(member)}: ${type} = Field(${about})\n`
      : `    ${attributeOf(member)}: ${optional} = Field(default=None, ${about})\n`;
  });
  return `class ${name}(${isBody ? 'Body' : 'Answer'}):\n    ${documented(description)}\n\n${fields.join('')}`;
}

function documented(text: string): string {
  return `"""${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"""`;
}

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

function typeOf(schema: Schema, isBody = true): string {
  const { $ref, anyOf, enum: values, type, items, additionalProperties } = schema;
  const inner = (one: Schema): string => typeOf(one, isBody);
  if ($ref !== undefined) return nameOf($ref);
  if (anyOf !== undefined) return anyOf.map(inner).join(' | ');
  if (values !== undefined) {
    const listed = values.map((value) => (value === null ? 'None' : JSON.stringify(value))).join(', ');
    // An answer of a later version may have another value in a closed list.
    return isBody ? `Literal[${listed}]` : `Literal[${listed}] | str`;
  }
  if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
  if (type === undefined) return 'Any';
  if (typeof type !== 'string') return type.map((one) => inner({ ...schema, type: one })).join(' | ');
  if (type === 'array') return `list[${inner(items ?? {})}]`;
  if (type !== 'object') return scalars[type] ?? 'Any';
  return `dict[str, ${typeof additionalProperties === 'object' ? inner(additionalProperties) : 'Any'}]`;
}

const recordHead = `"""${note}"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    """A record on the bus. A later version of its schema may have more fields."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())
`;

/** Pydantic’s models of the records; a field that has a default in its schema may be missing in JSON. */
export function modelsOfRecords(records: readonly AvroRecord[]): string {
  const models = records.map(({ name, doc = name, fields }) => {
    const members = fields.map((field) => {
      const given = field.default === undefined ? '' : `${defaultOf(field.default)}, `;
      const about = JSON.stringify(field.doc ?? '');
      return `    ${attributeOf(field.name)}: ${avroType(field.type)} = Field(${given}${aliasOf(field.name)}description=${about})\n`;
    });
    return `class ${name}(Record):\n    ${documented(doc)}\n\n${members.join('')}`;
  });
  return [recordHead, ...models, rebuilt('Record')].join('\n\n');
}

/** Keywords that a field may be called, and types: within its class the field’s name would stand for itself. */
const takenNames = ['from', 'in', 'is', 'as', 'class', 'import', 'with', 'list', 'dict', 'str', 'int', 'float', 'bool'];
/** A name that is taken has an underscore behind it. */
const attributeOf = (name: string): string => (takenNames.includes(name) ? `${name}_` : name);
const aliasOf = (name: string): string => (takenNames.includes(name) ? `alias="${name}", ` : '');

function defaultOf(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return 'default_factory=list';
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return 'default_factory=dict';
  const text = JSON.stringify(value);
  return `default=${{ null: 'None', true: 'True', false: 'False' }[text] ?? text}`;
}

const avroScalars: Readonly<Record<string, string>> = {
  string: 'str',
  int: 'int',
  long: 'int',
  double: 'float',
  boolean: 'bool',
  null: 'None',
};

function avroType(type: Avro): string {
  if (typeof type === 'string') return avroScalars[type] ?? type;
  if (isUnion(type)) return [...type].sort((one, other) => Number(one === 'null') - Number(other === 'null')).map(avroType).join(' | '); // prettier-ignore
  if (type.type === 'array') return `list[${avroType(type.items ?? 'null')}]`;
  if (type.type === 'map') return `dict[str, ${avroType(type.values ?? 'null')}]`;
  return avroType(type.type === 'record' ? (type.name ?? '') : type.type);
}
