import { pipeline } from 'node:stream';
import { join } from 'node:path';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { LineInput } from '../../../mcp/src/line-input.js';
import type { CommandContext } from '../commands/command-context.js';
import { Docs } from './docs.js';
import { Gateway } from './gateway.js';
import { operatorServer } from './server.js';

/**
 * Serves one MCP client of an operator over standard input and output, until it leaves. The gateway is asked call by
 * call: it may start later.
 */
export async function serveOperator(url: string | undefined, surroundings: CommandContext): Promise<number> {
  const { environment, root, stopped, note } = surroundings;
  const gateway = new Gateway(checkedUrl(url ?? `http://127.0.0.1:${environment.httpPort}`), environment);
  const docs = new Docs(join(root, 'docs'));
  const input = new LineInput();
  pipeline(process.stdin, input, () => undefined); // how it ended the transport says
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  // A client that leaves before its first message has no server that could hear of it.
  input.once('close', () => end());
  const handle = serveStdio(
    () => {
      const server = operatorServer(gateway, docs);
      server.server.onclose = () => end();
      return server;
    },
    { transport: new StdioServerTransport(input), onerror: ({ message }) => note(`${message}\n`) },
  );
  try {
    await Promise.race([ended, stopped]);
    return 0;
  } finally {
    await handle.close();
    input.destroy();
  }
}

function checkedUrl(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '');
  throw new Error(`--url is "${text}"; it must be the address of a gateway, such as http://127.0.0.1:8091.`);
}
