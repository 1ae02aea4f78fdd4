import type { AuditEntry } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import { Button } from '../../ui/button.js';
import { CopyButton, Json } from '../../ui/json.js';
import { Card, Facts } from '../../ui/page.js';
import { Term } from '../../ui/term.js';
import { Moment } from '../../ui/time.js';
import { OutcomeTag, RunLink } from './audit-columns.js';
import { auditKinds } from './search.js';

/** All of an entry, with what it is chained by. */
export function EntryPanel({ entry, onClose }: { readonly entry: AuditEntry; readonly onClose: () => void }) {
  return (
    <Card
      title={auditKinds[entry.kind]}
      actions={
        <Button tone="quiet" isSmall onPress={onClose}>
          Close
        </Button>
      }
    >
      <Facts facts={factsOf(entry)} />
      {entry.details === null ? (
        <p>Details of other callers’ entries are for operators.</p>
      ) : (
        <Json label="Details" value={entry.details} />
      )}
    </Card>
  );
}

function factsOf(entry: AuditEntry) {
  const { user, on_behalf_of: subject, tool, outcome, session_id: session, config_version: version, details } = entry;
  const approval = details?.['approval_id'];
  const some = [
    { name: 'When', value: <Moment at={entry.at} isExact /> },
    outcome !== null && { name: 'Outcome', value: <OutcomeTag entry={entry} /> },
    tool !== null && { name: 'Tool', value: <ToolName entry={entry} /> },
    user !== null && { name: 'User', value: subject === null ? user : `${user} for ${subject}` },
    entry.request_id !== null && { name: <Term name="run" />, value: <RunLink entry={entry} /> },
    session !== null && {
      name: <Term name="session" />,
      value: (
        <Link to="/audit" search={{ session_id: session }}>
          {session}
        </Link>
      ),
    },
    typeof approval === 'string' && {
      name: <Term name="approval" />,
      value: (
        <Link to="/approvals/$approvalId" params={{ approvalId: approval }}>
          {approval}
        </Link>
      ),
    },
    version !== null && { name: <Term name="configurationVersion">Configuration</Term>, value: <code>{version}</code> },
    {
      name: 'Written by',
      value: { true: 'its service', false: 'another than its service', null: 'the entry does not say' }[
        `${entry.authentic}`
      ],
    },
    { name: 'Chain', value: `${entry.chain}, entry ${entry.sequence}, of the record at offset ${entry.source_offset}` },
    {
      name: 'Hash',
      value: (
        <>
          <code title={entry.hash}>{entry.hash.slice(0, 16)}…</code> <CopyButton text={entry.hash} />
        </>
      ),
    },
  ];
  return some.filter((fact) => fact !== false);
}

/** Calls name a tool by its key, by which it has a page; others by what the model wrote. */
function ToolName({ entry: { tool, kind } }: { readonly entry: AuditEntry }) {
  if (tool === null || (kind !== 'tool_call' && kind !== 'state_transition')) return tool;
  return (
    <Link to="/tools/$tool" params={{ tool }}>
      {tool}
    </Link>
  );
}
