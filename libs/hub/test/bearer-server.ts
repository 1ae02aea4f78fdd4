import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An MCP server over Streamable HTTP that lets in whoever shows one of `accepted`, and echoes what it was shown. */
export interface BearerServer {
  readonly url: string;
  readonly accepted: Set<string>;
  /** Tokens shown at each `initialize`, accepted or not. */
  readonly begun: string[];
  /** Tokens of the calls that ran. */
  readonly ran: string[];
  /** Sessions that were ended by their client. */
  ended: number;
  /** Held calls go on. */
  release(): void;
  close(): Promise<void>;
}

const tools = ['echo', 'hold', 'fail'].map((name) => ({ name, inputSchema: { type: 'object' } }));

export async function startBearerServer(...accepted: string[]): Promise<BearerServer> {
  let held: (() => void)[] = [];
  const here: BearerServer & { url: string } = {
    url: '',
    accepted: new Set(accepted),
    begun: [],
    ran: [],
    ended: 0,
    release: () => {
      for (const go of held) go();
      held = [];
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const shown = request.headers.authorization ?? '';
    const token = shown.replace(/^Bearer /, '');
    if (request.method === 'DELETE') {
      here.ended++;
      response.writeHead(200).end();
      return;
    }
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += String(piece);
    const { id, method, params } = JSON.parse(text) as {
      id?: number;
      method?: string;
      params?: { protocolVersion?: string; name?: string };
    };
    if (method === 'initialize') here.begun.push(token);
    if (!here.accepted.has(token)) {
      response.writeHead(401).end(`Who is ${shown}?`);
      return;
    }
    const result = (value: unknown): void =>
      void response
        .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s-${token.length}` })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result: value }));
    const say = (said: string, isError = false): void => result({ content: [{ type: 'text', text: said }], isError });
    if (id === undefined) response.writeHead(202).end();
    else if (method === 'initialize')
      result({
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'bearer', version: '1' },
      });
    else if (method === 'tools/list') result({ tools });
    else if (method === 'tools/call') {
      here.ran.push(token);
      if (params?.name === 'hold') held.push(() => say('held'));
      else say(`${JSON.stringify(request.headers)} ${shown}`, params?.name === 'fail');
    } else result({});
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  here.url = `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`;
  return here;
}
