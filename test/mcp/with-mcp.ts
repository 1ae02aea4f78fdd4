import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import type { McpService } from '../../apps/mcp/src/mcp.module.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

export interface McpSystem extends TestSystem {
  readonly mcp: McpService;
}

/** All services and the MCP server in this process; a model that is asked all the same says that none is. */
export async function startMcpSystem(
  configuration: string,
  more: Parameters<typeof startSystem>[3] = {},
  script: ScriptedModel['script'] = () => ({ answer: 'No model is asked.' }),
): Promise<McpSystem> {
  const model = new ScriptedModel(script);
  const system = await startSystem(configuration, model, undefined, more);
  const mcp = await startMcp(system.embedded.runtime);
  return {
    ...system,
    mcp,
    close: async () => {
      await mcp.close();
      await system.close();
    },
  };
}

export const clientInfo = { name: 'test', version: '1' };

/** The client of SDK 1.x, which knows the era of sessions alone. */
export async function oldClient(url: string, token?: string): Promise<OldClient> {
  const client = new OldClient(clientInfo);
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  // The SDK's own classes do not fit each other under exactOptionalPropertyTypes.
  await client.connect(new OldTransport(new URL(url), { requestInit }) as Transport);
  return client;
}

/** The client of SDK 2.x, in the era of 2026-07-28. */
export async function newClient(url: string, token?: string): Promise<NewClient> {
  const client = new NewClient(clientInfo, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new NewTransport(new URL(url), { requestInit }));
  return client;
}
