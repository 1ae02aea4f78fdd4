import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { fieldsOf } from './form/fields.js';
import type { Field } from './form/fields.js';
import { limitsIn, withheldFrom } from './limits.js';
import css from './tools.module.css';

interface Props {
  readonly schema: unknown;
  /** The tool’s own schema, where the reader may read it: what is otherwise in `schema` is what bounds narrow. */
  readonly configured?: unknown;
}

/** The arguments of a tool, a row each. */
export function Parameters({ schema, configured }: Props) {
  const fields = fieldsOf(schema);
  const withheld = withheldFrom(schema, configured);
  if (fields === null)
    return <p>Its arguments are not an object with named properties; the JSON schema says what they are.</p>;
  return (
    <>
      {fields.length === 0 ? (
        <p>It takes no arguments.</p>
      ) : (
        <Table label="Arguments" columns={columnsFor(schema, configured)} items={fields} keyOf={({ name }) => name} />
      )}
      {withheld.length > 0 && <p>Models are not offered {withheld.join(', ')}: bounds say that it may not be given.</p>}
    </>
  );
}

const columnsFor = (schema: unknown, configured: unknown): readonly Column<Field>[] => [
  { id: 'name', name: 'Argument', cell: ({ name }) => <code>{name}</code> },
  {
    id: 'kind',
    name: 'Kind',
    cell: (field) => (
      <>
        {kindOf(field)} {field.isRequired && <Tag tone="warn">required</Tag>}
        {limitsIn(schema, configured, field.name).map(({ words, isNarrowed }) => (
          <div key={words} className={css['limit']}>
            {words} {isNarrowed && <Tag tone="accent">by a rule</Tag>}
          </div>
        ))}
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
