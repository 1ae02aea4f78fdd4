import { join } from 'node:path';
import type { JsonObject, McpServer, OfferedTool } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';

const folder = join(import.meta.dirname, 'mcp-servers');
/** What the hostile server was given, and must show to nobody. */
export const key = 'sk-planted-0815';

const hubs: McpHub[] = [];

/** To be called after each test. */
export const closeHubs = (): Promise<unknown> => Promise.all(hubs.splice(0).map((hub) => hub.close()));

function server(id: string, script: string, args: string[] = [], startMs = 5_000): McpServer {
  const env = ['HOSTILE_KEY'];
  return { id, command: process.execPath, args: [join(folder, script), ...args], env, url: null, startMs };
}

export interface Opened {
  readonly hub: McpHub;
  readonly changed: string[];
  readonly logged: string[];
}

/**
 * A hub with a server that has the fault and one that is well. `elsewhere` is where the schemas of the hostile one
 * point to.
 */
export function openHostile(fault: string, { startMs = 5_000, elsewhere = '' } = {}): Opened {
  const [changed, logged]: [string[], string[]] = [[], []];
  const hub = createMcpHub(
    [server('hostile', 'hostile.mjs', [fault, elsewhere], startMs), server('well', 'scripted.mjs')],
    {
      environment: () => ({ PATH: process.env['PATH'] ?? '', HOSTILE_KEY: key }),
      onChange: (id) => changed.push(id),
      log: (id, message) => logged.push(`${id}: ${message}`),
    },
  );
  hubs.push(hub);
  return { hub, changed, logged };
}

export function callHostile(
  hub: McpHub,
  tool = 'work',
  changes: { args?: JsonObject; timeoutMs?: number; pin?: string | null } = {},
) {
  const { args = {}, timeoutMs = 2_000, pin = null } = changes;
  const signal = new AbortController().signal;
  return hub.call('hostile', tool, args, { signal, timeoutMs, idempotencyKey: 'k', pin });
}

export async function offeredBy(hub: McpHub): Promise<readonly OfferedTool[]> {
  const [offer] = await hub.discover();
  if (offer === undefined || !('tools' in offer)) throw new Error(JSON.stringify(offer));
  return offer.tools;
}
