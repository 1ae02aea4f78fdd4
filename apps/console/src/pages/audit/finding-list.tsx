import type { AuditFinding } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import { count } from '../../ui/format.js';
import { Tag } from '../../ui/tag.js';
import css from './audit.module.css';

interface Props {
  readonly findings: readonly AuditFinding[];
  /** How many there are in all. */
  readonly found: number;
}

/** What is not as the audit wrote it: each in a sentence, with where it is and which runs it is about. */
export function FindingList({ findings, found }: Props) {
  return (
    <ol className={css['findings']}>
      {findings.map((finding, n) => (
        <li key={n}>
          <p>
            <Tag tone="bad">{finding.kind}</Tag> {finding.message}
          </p>
          <p className={css['muted']}>{whereIs(finding)}</p>
          <Differences finding={finding} />
          <Runs finding={finding} />
        </li>
      ))}
      {found > findings.length && <li>… and {count(found - findings.length)} more.</li>}
    </ol>
  );
}

function whereIs({ chain, entries, place, source_offset: offset }: AuditFinding): string {
  const { first, last } = entries ?? {};
  return [
    chain,
    ...(first === undefined ? [] : [first === last ? `entry ${first}` : `entries ${first} to ${last}`]),
    ...(offset === null ? [] : [`record at offset ${offset}`]),
    ...(place === null ? [] : [`agent.audit ${place['partition']}/${place['offset']}`]),
  ].join(' · ');
}

function Differences({ finding: { differences } }: { readonly finding: AuditFinding }) {
  if (differences.length === 0) return null;
  return (
    <ul className={css['differences']}>
      {differences.map(({ field, was, is }, n) => (
        <li key={n}>
          <code>{text(field)}</code> was <code>{text(was)}</code> and is <code>{text(is)}</code>
        </li>
      ))}
    </ul>
  );
}

function Runs({ finding: { runs } }: { readonly finding: AuditFinding }) {
  const ids = runs.map((run) => run['request_id']).filter((id) => typeof id === 'string');
  if (ids.length === 0) return null;
  return (
    <p>
      {ids.length === 1 ? 'Run ' : 'Runs '}
      {ids.map((id, n) => (
        <span key={id}>
          {n > 0 && ', '}
          <Link to="/runs/$requestId" params={{ requestId: id }}>
            {id}
          </Link>
        </span>
      ))}
    </p>
  );
}

function text(value: unknown): string {
  const written = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return written.length > 200 ? `${written.slice(0, 200)}…` : written;
}
