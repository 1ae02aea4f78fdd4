import { usageParameters } from '../../../usage/usage-query.js';
import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';
import {
  readStatusExample,
  listServersExample,
  acceptServerChangesExample,
  listConnectionsExample,
  readUsageExample,
} from './examples.js';

/** How the installation stands, and what was used. */
export const installationOperations: readonly Operation[] = [
  {
    ...{
      id: 'readStatus',
      client: 'status.get',
      who: 'operator',
      method: 'get',
      path: '/v1/status',
      tag: 'Operations',
    },
    summary: 'See how the installation stands',
    description:
      'The lag of each role, what waits and what is overdue in all tenants, dead letters of a day, and the configuration in force. For operators.',
    answers: json('SystemStatus', 'How it stands.'),
    example: readStatusExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'listServers',
      client: 'servers.list',
      who: 'operator',
      method: 'get',
      path: '/v1/servers',
      tag: 'Operations',
    },
    summary: 'List the MCP servers',
    description:
      'Those of the configuration in force, as the executors report them: whether each is there, its tools, and how tools that are held back differ from what was allowed. For operators.',
    answers: json('ServerList', 'The servers.'),
    example: listServersExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'acceptServerChanges',
      client: 'servers.accept',
      who: 'operator',
      method: 'post',
      path: '/v1/servers/{name}/accept',
      tag: 'Operations',
    },
    summary: 'Allow changed tools of an MCP server',
    description:
      'Allows tools that are held back as they are now, as `sluice mcp approve` does, in a process that follows a configuration file. It is a conflict where the server says something else than the pins. For operators.',
    places: { name: 'Names the server.' },
    body: 'AcceptRequest',
    answers: json('AcceptedChanges', 'They are allowed.'),
    example: acceptServerChangesExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'listConnections',
      client: 'connections.list',
      who: 'operator',
      method: 'get',
      path: '/v1/connections',
      tag: 'Operations',
    },
    summary: 'List the connections',
    description: 'Those of the configuration in force, and what uses them; never a credential. For operators.',
    answers: json('ConnectionList', 'The connections.'),
    example: listConnectionsExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{ id: 'readUsage', client: 'usage.get', who: 'caller', method: 'get', path: '/v1/usage', tag: 'Runs' },
    summary: 'See what was used',
    description:
      'Runs that ended, tokens and cost by user, model, day or outcome, and calls by tool, of the caller’s tenant, added up by UTC day.',
    query: usageParameters,
    answers: json('UsageList', 'The usage.'),
    example: readUsageExample,
    refusals: [400, 401, 403, 500, 503],
  },
];
