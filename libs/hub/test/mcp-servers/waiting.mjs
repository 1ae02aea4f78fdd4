/**
 * A tool that writes down that it has begun, and ends once a file is there: both beside the path that its first
 * argument names.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , path] = process.argv;
const lookEveryMs = 20;

const tools = [
  {
    name: 'wait',
    description: 'Waits until it may end.',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  },
];

function send(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}

function wait(id, n) {
  if (existsSync(`${path}.${n}`)) return send(id, { content: [{ type: 'text', text: 'Done.' }] });
  setTimeout(() => wait(id, n), lookEveryMs);
}

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit());
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call') {
    appendFileSync(`${path}.begun`, `${params.arguments.n}\n`);
    return wait(id, params.arguments.n);
  }
  const serverInfo = { name: 'waiting', version: '1' };
  const { protocolVersion } = params ?? {};
  send(id, method === 'initialize' ? { protocolVersion, capabilities: { tools: {} }, serverInfo } : { tools });
});
