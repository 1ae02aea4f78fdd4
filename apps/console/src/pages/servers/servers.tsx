import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { serversQuery } from '../../data/servers.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Command, LongText } from '../../ui/json.js';
import { Page } from '../../ui/page.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { Connections } from './connections.js';
import { Server } from './server.js';

const sample = `mcp:
  servers:
    weather: { command: npx, args: ['-y', some-mcp-server] }
tool:
  forecast: { type: mcp-tool, group: [read-only], mcp_tool_id: forecast }`;

/** The MCP servers of the configuration in force, what of them is held back, and the connections that calls use. */
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
      <List />
      <Connections />
    </Page>
  );
}

function List() {
  const servers = useQuery(serversQuery());
  if (servers.isPending) return <Loading label="Loading the servers" />;
  if (servers.isError) return <RequestProblem error={servers.error} again={() => void servers.refetch()} />;
  if (servers.data.servers.length === 0)
    return (
      <Empty title="The configuration names no MCP server.">
        <p>Name a server and a tool of it in the configuration:</p>
        <LongText text={sample} label="A sample of a configuration" />
        <p>What a server offers, with the lines to write, is said by:</p>
        <Command text="npx sluice mcp list -- npx -y some-mcp-server" />
      </Empty>
    );
  return servers.data.servers.map((server) => <Server key={server.name} server={server} />);
}
