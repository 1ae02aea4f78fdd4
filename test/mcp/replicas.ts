import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';
import { roundRobin } from './round-robin.js';
import { clientInfo, startMcpSystem } from './with-mcp.js';

const begin = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
};
export const sse = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

const toolOf = (type: string, effect: string): string => `import { existsSync } from 'node:fs';
  import { join } from 'node:path';
  export default ({ defineTool, z }) => defineTool({
    type: '${type}', description: 'Waits for a file.', input: z.object({ on: z.string() }), output: z.string(),
    effect: '${effect}', redaction: { whole: true }, capabilities: [], repeatable: false, requiresConnection: false,
    execute: async ({ on }) => {
      while (!existsSync(join(import.meta.dirname, on))) await new Promise((go) => setTimeout(go, 20));
      return 'Done: ' + on;
    },
  });\n`;

export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/** Two doors of one system, behind a proxy that gives each request to the next of them. */
export async function startReplicas() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sessions-'));
  writeFileSync(join(folder, 'slow.mjs'), toolOf('slow', 'read_only'));
  writeFileSync(join(folder, 'write.mjs'), toolOf('write', 'external_side_effect'));
  const system = await startMcpSystem(`
tool_folders: ["${folder}"]
tool:
  slow: { type: slow, group: [g] }
  move: { type: slow, group: [g], state: later }
  write: { type: write, group: [g] }
  there: { type: slow, group: [g], available_in_states: [later] }
policy: { allowed_tools: ['*'], approval: { effects: [external_side_effect], approvers: ['*'] } }
`);
  const doors = [system.mcp, await startMcp(system.embedded.runtime)];
  const proxy = await roundRobin(doors.map(({ url }) => url));

  /** How often the executor began a call with this argument; nothing is said of a short one before its step. */
  const made = async (on: string): Promise<number> => {
    const calls = await system.all('agent.calls');
    const ids = new Set(
      calls.flatMap(({ record }) => (record.call?.arguments.includes(`"${on}"`) === true ? [record.requestId] : [])),
    );
    const progress = await system.all('agent.progress');
    const begun = progress.filter(({ record }) => record.kind === 'tool_call_start' && ids.has(record.requestId));
    const ended = (await system.all('agent.steps')).filter(({ record }) => ids.has(record.requestId));
    return Math.max(begun.length, ended.length);
  };

  /** A client of the older era whose stream is there; `forms` is called when it is asked, and it accepts then. */
  async function connected(forms: () => void | Promise<void> = () => undefined): Promise<Client> {
    const client = new Client(clientInfo, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => {
      await forms();
      return { action: 'accept', content: {} };
    });
    const requestInit = { headers: localHeaders(system.embedded.runtime) };
    const fetchWithHeaders: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(requestInit.headers)) headers.set(name, value);
      return fetch(url, { ...init, headers });
    };
    const transport = new StreamableHTTPClientTransport(new URL(proxy.url), { fetch: fetchWithHeaders });
    const standing = proxy.seen.filter(({ name }) => name === 'GET').length;
    await client.connect(transport as Transport);
    await eventually(
      () => proxy.seen.filter(({ name }) => name === 'GET').length,
      (count) => count > standing,
    );
    return client;
  }

  const of = (session: string) => ({ 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' });
  const post = (door: number, message: object, session = ''): Promise<Response> =>
    fetch(doors[door]?.url ?? '', {
      method: 'POST',
      headers: { ...sse, ...(session === '' ? {} : of(session)) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });

  return {
    ...{ system, doors, proxy, connected, made, post },
    /** Calls with this argument end. */
    go: (on: string): void => writeFileSync(join(folder, on), ''),
    done: (on: string): object => ({ isError: false, content: [{ type: 'text', text: `Done: ${on}` }] }),
    /** The call is under way at one of the doors. */
    underWay: (on: string) =>
      eventually(
        () => made(on),
        (calls) => calls > 0,
      ),
    events: (event: string) => system.metric('sluice_mcp_session_events_total', { event }),
    /** A session without a client of the SDK. */
    begun: async (): Promise<string> => {
      const answer = await post(0, begin);
      await answer.text();
      return answer.headers.get('mcp-session-id') ?? '';
    },
    standing: (door: number, session: string, last = '', signal?: AbortSignal): Promise<Response> =>
      fetch(doors[door]?.url ?? '', {
        headers: {
          ...{ accept: 'text/event-stream', ...of(session) },
          ...(last === '' ? {} : { 'last-event-id': last }),
        },
        signal: signal ?? null,
      }),
    close: async () => {
      await proxy.close();
      await doors[1]?.close();
      await system.close();
      rmSync(folder, { recursive: true });
    },
  };
}
