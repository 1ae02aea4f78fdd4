import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DescribedTool } from '@sluice/client';
import { configurationQuery } from '../../data/configurations.js';
import { useSignedIn } from '../../session/session-provider.js';
import { EffectTag } from '../../ui/effect.js';
import { Command, LongText } from '../../ui/json.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { byConnection, byServer } from './of-tools.js';
import type { ToolsOf } from './of-tools.js';

const sample = `mcp:
  servers:
    weather: { command: npx, args: ['-y', some-mcp-server] }
tool:
  forecast: { type: mcp-tool, group: [read-only], mcp_tool_id: forecast }`;

/** The MCP servers of the configuration in force with their tools, and the connections that tools use. */
export function Servers() {
  const { me } = useSignedIn();
  const summary = 'MCP servers that tools come from, and connections that calls use.';
  if (!me.is_operator)
    return (
      <Page title="Servers" summary={summary}>
        <Empty title="Servers are for operators.">
          <p>
            <Link to="/tools">Tools</Link> has those that you may ask for, whichever server they come from.
          </p>
        </Empty>
      </Page>
    );
  return (
    <Page title="Servers" summary={summary}>
      <Contents />
    </Page>
  );
}

function Contents() {
  const view = useQuery(configurationQuery());
  if (view.isPending) return <Loading label="Loading the servers" />;
  if (view.isError) return <RequestProblem error={view.error} again={() => void view.refetch()} />;
  const servers = byServer(view.data.tools);
  return (
    <>
      {servers.length === 0 ? <NoServer /> : servers.map((server) => <Server key={server.name} server={server} />)}
      <Connections connections={byConnection(view.data.tools)} />
    </>
  );
}

function NoServer() {
  return (
    <Empty title="No tool comes from an MCP server.">
      <p>Name a server and a tool of it in the configuration:</p>
      <LongText text={sample} label="A sample of a configuration" />
      <p>What a server offers, with the lines to write, is said by:</p>
      <Command text="npx sluice mcp list -- npx -y some-mcp-server" />
    </Empty>
  );
}

function Server({ server: { name, tools } }: { readonly server: ToolsOf }) {
  const away = tools.filter(({ unavailable }) => unavailable !== null);
  return (
    <Card
      title={name}
      actions={
        <Tag tone={away.length === 0 ? 'good' : away.length === tools.length ? 'bad' : 'warn'}>
          {away.length === 0
            ? 'every tool can be offered'
            : `${away.length} of ${tools.length} tools cannot be offered`}
        </Tag>
      }
    >
      {[...new Set(away.map(({ unavailable }) => unavailable))].map((reason) => (
        <Note key={reason} tone="warn">
          {reason}
        </Note>
      ))}
      <Table label={`Tools of ${name}`} columns={columns} items={tools} keyOf={({ key }) => key} />
    </Card>
  );
}

const columns: readonly Column<DescribedTool>[] = [
  {
    id: 'tool',
    name: 'Tool',
    cell: ({ key }) => (
      <Link to="/tools/$tool" params={{ tool: key }}>
        {key}
      </Link>
    ),
  },
  { id: 'description', name: 'Description', isMinor: true, cell: ({ description }) => description },
  { id: 'effect', name: 'Effect', cell: ({ effect }) => <EffectTag effect={effect} /> },
  {
    id: 'offered',
    name: 'Offered',
    cell: ({ allowed, unavailable, needs_approval: needsApproval }) => {
      if (unavailable !== null) return <Tag tone="bad">not available</Tag>;
      if (!allowed) return <Tag>not allowed by policy</Tag>;
      return needsApproval ? <Tag tone="warn">with an approval</Tag> : <Tag tone="good">yes</Tag>;
    },
  },
];

function Connections({ connections }: { readonly connections: readonly ToolsOf[] }) {
  return (
    <Card title="Connections">
      {connections.length === 0 ? (
        <p>No tool uses a connection. One is an account of another system whose secret no model sees.</p>
      ) : (
        <Table label="Connections" columns={connectionColumns} items={connections} keyOf={({ name }) => name} />
      )}
    </Card>
  );
}

const connectionColumns: readonly Column<ToolsOf>[] = [
  { id: 'name', name: 'Connection', cell: ({ name }) => <strong>{name}</strong> },
  {
    id: 'tools',
    name: 'Tools that use it',
    cell: ({ tools }) =>
      tools.map(({ key }, place) => (
        <span key={key}>
          {place > 0 && ', '}
          <Link to="/tools/$tool" params={{ tool: key }}>
            {key}
          </Link>
        </span>
      )),
  },
];
