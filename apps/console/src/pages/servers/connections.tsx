import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ListedConnection } from '@sluice/client';
import { connectionsQuery } from '../../data/servers.js';
import { Card } from '../../ui/page.js';
import { Loading, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';

/** The connections of the configuration in force, and what uses them. */
export function Connections() {
  const found = useQuery(connectionsQuery());
  return (
    <Card title="Connections">
      {found.isPending && <Loading label="Loading the connections" />}
      {found.isError && <RequestProblem error={found.error} again={() => void found.refetch()} />}
      {found.isSuccess && found.data.connections.length === 0 && (
        <p>There are none. A connection is an account of another system, whose credential no model and no page sees.</p>
      )}
      {found.isSuccess && found.data.connections.length > 0 && (
        <Table label="Connections" columns={columns} items={found.data.connections} keyOf={({ name }) => name} />
      )}
    </Card>
  );
}

const columns: readonly Column<ListedConnection>[] = [
  { id: 'name', name: 'Connection', cell: ({ name }) => <strong>{name}</strong> },
  {
    id: 'tenants',
    name: 'Tenants',
    cell: ({ tenants }) => (tenants.includes('*') ? 'all' : tenants.join(', ') || 'none'),
  },
  { id: 'servers', name: 'Servers', isMinor: true, cell: ({ servers }) => servers.join(', ') || '–' },
  {
    id: 'tools',
    name: 'Tools',
    cell: ({ tools }) =>
      tools.map((key, place) => (
        <span key={key}>
          {place > 0 && ', '}
          <Link to="/tools/$tool" params={{ tool: key }}>
            {key}
          </Link>
        </span>
      )),
  },
];
