// A sample MCP server with two tools. Over stdio: `node server.mjs`; over Streamable HTTP on 127.0.0.1: `node
// server.mjs --http 8790`. `--journal FILE` (or the variable ANALYSIS_JOURNAL) makes reset-workflow append a line for
// each idempotency key it has not seen, so that its effects can be counted.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { analyse } from './analyse.mjs';

const { values: options } = parseArgs({ options: { http: { type: 'string' }, journal: { type: 'string' } } });
const journal = options.journal ?? process.env.ANALYSIS_JOURNAL;

const row = z.record(z.string(), z.unknown());

function analysisServer() {
  const server = new McpServer({ name: 'analysis', version: '0.1.0' });
  server.registerTool(
    'complex-analysis',
    {
      description:
        'Analyse and compare rows of data: smallest, largest, mean and median of each number column, a ranking by the first one, and the ' +
        'different values of each text column. Example: { "rows": [{ "name": "France", "area": 551695 }, { "name": "Italy", "area": 301336 }] }.',
      inputSchema: z.object({
        rows: z
          .array(row)
          .describe('The rows to compare: objects with the same columns, for example a query’s result.'),
        question: z.string().optional().describe('What the analysis is for, in a sentence.'),
      }),
      outputSchema: z.object({
        summary: z.string(),
        columns: z.array(row),
        rows: z.array(row).describe('The rows ranked by the first number column, largest first.'),
        count: z.int(),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ rows, question }) => {
      const result = analyse(rows, question);
      return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
    },
  );
  server.registerTool(
    'reset-workflow',
    {
      description: 'Reset the workflow to its initial state. Takes nothing, returns { "status": "reset" }.',
      inputSchema: z.object({}),
      outputSchema: z.object({ status: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async (_args, { mcpReq }) => {
      if (journal !== undefined) write(journal, String(mcpReq._meta?.['sluice/idempotency-key'] ?? randomUUID()));
      return { content: [{ type: 'text', text: '{"status":"reset"}' }], structuredContent: { status: 'reset' } };
    },
  );
  return server;
}

/** One line a key, however often it comes. */
function write(file, key) {
  const known = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  if (!known.includes(key)) appendFileSync(file, `${key}\n`);
}

/** Streamable HTTP with a session for each client; an unknown session is told so, and the client begins a new one. */
function serveHttp(port) {
  const sessions = new Map();
  const listener = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(id);
    if (known === undefined && id !== undefined) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"There is no such session."},"id":null}');
      return;
    }
    await (known ?? (await newSession(sessions, listener.address().port))).handleRequest(request, response);
  });
  listener.listen(port, '127.0.0.1', () =>
    console.error(`Listening on http://127.0.0.1:${listener.address().port}/mcp`),
  );
}

async function newSession(sessions, port) {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableDnsRebindingProtection: true,
    allowedHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await analysisServer().connect(transport);
  return transport;
}

if (options.http === undefined) serveStdio(analysisServer);
else serveHttp(Number(options.http));
