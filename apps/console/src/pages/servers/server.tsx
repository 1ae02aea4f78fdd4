import { Link } from '@tanstack/react-router';
import type { ListedServer, ServerReport, ServerTool } from '@sluice/client';
import { Card, Facts, Row } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import type { Tone } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';
import { HeldBack } from './held-back.js';

/** What the states of a server mean. */
const states: Readonly<Record<string, { readonly name: string; readonly tone: Tone }>> = {
  ready: { name: 'ready', tone: 'good' },
  connecting: { name: 'connecting', tone: 'note' },
  waiting: { name: 'away, asked again', tone: 'bad' },
  idle: { name: 'not asked yet', tone: 'plain' },
  closed: { name: 'closed', tone: 'bad' },
};

/** A server: whether it answers, its tools, and what of it is held back. */
export function Server({ server }: { readonly server: ListedServer }) {
  const { name, transport, at, state, executors, tools, held_back: heldBack } = server;
  return (
    <Card
      title={name}
      actions={
        <>
          {heldBack.length > 0 && (
            <Tag tone="warn">{heldBack.length === 1 ? 'one tool held back' : `${heldBack.length} tools held back`}</Tag>
          )}
          <StateTag state={state} />
        </>
      }
    >
      <Facts
        facts={[
          { name: transport === 'stdio' ? 'Program' : 'Address', value: <code>{at}</code> },
          ...executors.map((report) => ({ name: `At ${report.instance}`, value: <Report report={report} /> })),
        ]}
      />
      {executors.length === 0 && <Note>No executor has reported how it stands. One does as soon as it runs.</Note>}
      {heldBack.length > 0 && <HeldBack server={name} tools={heldBack} />}
      {tools.length === 0 ? (
        <p>The configuration names no tool of it.</p>
      ) : (
        <Table label={`Tools of ${name}`} columns={columns} items={tools} keyOf={({ key }) => key} />
      )}
    </Card>
  );
}

function StateTag({ state }: { readonly state: string }) {
  const { name, tone } = states[state] ?? { name: 'not known', tone: 'plain' };
  return <Tag tone={tone}>{name}</Tag>;
}

function Report({ report: { state, error, since } }: { readonly report: ServerReport }) {
  return (
    <Row>
      <StateTag state={state} />
      <span>
        since <Moment at={since} isExact />
      </span>
      {error !== null && <span>{error}</span>}
    </Row>
  );
}

const columns: readonly Column<ServerTool>[] = [
  {
    id: 'tool',
    name: 'Tool',
    cell: ({ key }) => (
      <Link to="/tools/$tool" params={{ tool: key }}>
        {key}
      </Link>
    ),
  },
  { id: 'name', name: 'Its server’s name for it', isMinor: true, cell: ({ name }) => <code>{name}</code> },
  {
    id: 'offered',
    name: 'Offered to runs',
    cell: ({ offered, unavailable }) => (
      <Row>
        <Tag tone={offered ? 'good' : 'warn'}>{offered ? 'yes' : 'no'}</Tag>
        {unavailable !== null && <span>{unavailable}</span>}
      </Row>
    ),
  },
];
