import { isTime, nameOf, note, queriesOf } from './description.ts';
import type { Description, Schema } from './description.ts';

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

/** Pydantic’s models of the gateway’s description. */
export function modelsOfApi(description: Description): string {
  const schemas = Object.entries(description.components.schemas).map(([name, schema]) => modelOf(name, schema));
  const queries = queriesOf(description).map(([name, { summary }, parameters]) => {
    const members = parameters.map((parameter) => {
      const type = isTime(parameter) ? 'str | int' : typeOf(parameter.schema);
      return `    ${parameter.name}: ${type}\n    ${documented(parameter.description)}\n`;
    });
    return `class ${name}(TypedDict, total=False):\n    ${documented(`The query of: ${summary}.`)}\n\n${members.join('\n')}`;
  });
  return [head, ...schemas, ...queries].join('\n\n');
}

function modelOf(name: string, schema: Schema): string {
  const isBody = schema.additionalProperties === false;
  const { description = name, properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([member, of]) => {
    const type = typeOf(of, isBody);
    const isRequired = required.includes(member);
    const optional = /\bNone\b|^Any$/.test(type) ? type : `${type} | None`;
    const about = JSON.stringify(of.description ?? '');
    return isRequired
      ? `    ${member}: ${type} = Field(description=${about})\n`
      : `    ${member}: ${optional} = Field(default=None, description=${about})\n`;
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
