import { Json } from '../../ui/json.js';
import css from './approval.module.css';

/** The arguments of a call: each by its name, what is nested as JSON. */
export function ArgumentsTable({ value }: { readonly value: unknown }) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return <Json label="Arguments" value={value} />;
  const entries = Object.entries(value);
  if (entries.length === 0) return <p>The call has no arguments.</p>;
  return (
    <table className={css['arguments']}>
      <caption className="visually-hidden">Arguments of the call</caption>
      <tbody>
        {entries.map(([name, each]) => (
          <Argument key={name} name={name} value={each} />
        ))}
      </tbody>
    </table>
  );
}

/** What is short stands beside its name, what is long below it. */
function Argument({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (!isLong(value))
    return (
      <tr>
        <th scope="row">
          <code>{name}</code>
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
          <code>{name}</code>
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
