import { Json } from '../../ui/json.js';
import css from './approval.module.css';

interface Props {
  readonly value: unknown;
  /** What the tool says of its arguments; null where that is gone. */
  readonly schema: Readonly<Record<string, unknown>> | null;
}

/** The arguments of a call: each by its name, what is nested as JSON. */
export function ArgumentsTable({ value, schema }: Props) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return <Json label="Arguments" value={value} />;
  const entries = Object.entries(value);
  if (entries.length === 0) return <p>The call has no arguments.</p>;
  return (
    <table className={css['arguments']}>
      <caption className="visually-hidden">Arguments of the call</caption>
      <tbody>
        {entries.map(([name, each]) => (
          <Argument key={name} name={name} value={each} meaning={meaningOf(schema, name)} />
        ))}
      </tbody>
    </table>
  );
}

interface ArgumentProps {
  readonly name: string;
  readonly value: unknown;
  readonly meaning: string | null;
}

/** What is short stands beside its name, what is long below it. */
function Argument({ name, value, meaning }: ArgumentProps) {
  if (!isLong(value))
    return (
      <tr>
        <th scope="row">
          <Name name={name} meaning={meaning} />
        </th>
        <td>
          <Plain value={value} />
        </td>
      </tr>
    );
  return (
    <>
      <tr>
        <th scope="rowgroup" colSpan={2}>
          <Name name={name} meaning={meaning} />
        </th>
      </tr>
      <tr>
        <td colSpan={2}>
          <Json label={name} value={value} />
        </td>
      </tr>
    </>
  );
}

function Plain({ value }: { readonly value: unknown }) {
  if (typeof value === 'string')
    return value === '' ? <em>empty text</em> : <span className={css['text']}>{value}</span>;
  return <code>{JSON.stringify(value)}</code>;
}

function isLong(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || (typeof value === 'string' && value.length > 600);
}

function Name({ name, meaning }: Omit<ArgumentProps, 'value'>) {
  return (
    <>
      <code>{name}</code>
      {meaning !== null && <div className={css['muted']}>{meaning}</div>}
    </>
  );
}

/** The description of an argument, as its tool wrote it. */
function meaningOf(schema: Props['schema'], name: string): string | null {
  const properties = schema?.['properties'];
  if (typeof properties !== 'object' || properties === null) return null;
  const described = Object.entries(properties).find(([each]) => each === name)?.[1] as unknown;
  if (typeof described !== 'object' || described === null || !('description' in described)) return null;
  const text = described.description;
  if (typeof text !== 'string' || text === '') return null;
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
