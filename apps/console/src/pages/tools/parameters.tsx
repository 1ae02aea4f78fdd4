import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { fieldsOf } from './form/fields.js';
import type { Field } from './form/fields.js';

/** The arguments of a tool, a row each. */
export function Parameters({ schema }: { readonly schema: unknown }) {
  const fields = fieldsOf(schema);
  if (fields === null)
    return <p>Its arguments are not an object with named properties; the JSON schema says what they are.</p>;
  if (fields.length === 0) return <p>It takes no arguments.</p>;
  return <Table label="Arguments" columns={columns} items={fields} keyOf={({ name }) => name} />;
}

const columns: readonly Column<Field>[] = [
  { id: 'name', name: 'Argument', cell: ({ name }) => <code>{name}</code> },
  {
    id: 'kind',
    name: 'Kind',
    cell: (field) => (
      <>
        {kindOf(field)} {field.isRequired && <Tag tone="warn">required</Tag>}
      </>
    ),
  },
  { id: 'description', name: 'What it is', cell: ({ description }) => description ?? '–' },
];

const plurals = {
  ...{ text: 'texts', number: 'numbers', boolean: 'yes or no', choice: 'choices', list: 'lists', object: 'objects' },
  json: 'JSON',
} as const;

function kindOf(field: Field): string {
  switch (field.kind) {
    case 'number':
      return field.isInteger ? 'whole number' : 'number';
    case 'boolean':
      return 'yes or no';
    case 'choice':
      return `one of ${field.options.length}`;
    case 'list':
      return `list of ${plurals[field.item.kind]}`;
    case 'json':
      return 'JSON';
    default:
      return field.kind;
  }
}
