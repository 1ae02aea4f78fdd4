/**
 * A server over stdio that asks its client in the middle of a call: `ask` sends each of the given requests, one after
 * another, and answers with what came back.
 */
import { createInterface } from 'node:readline';

const inputSchema = { type: 'object', properties: { requests: { type: 'array', items: { type: 'object' } } } };
const tools = [{ name: 'ask', description: 'Asks.', inputSchema }];
const waiting = new Map();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let asked = 0;
let capabilities = {};

async function ask(id, requests) {
  const answers = [];
  for (const request of requests) {
    const question = `q${++asked}`;
    const answer = new Promise((resolve) => waiting.set(question, resolve));
    send({ id: question, ...request });
    const { result, error } = await answer;
    answers.push(result ?? { code: error.code, message: error.message });
  }
  send({ id, result: { content: [], structuredContent: { answers, capabilities } } });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(answer);
  if (id === undefined) return;
  if (method === 'tools/call') return ask(id, params.arguments.requests);
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method !== 'initialize') return send({ id, error: { code: -32601, message: 'Method not found' } });
  capabilities = params.capabilities;
  const serverInfo = { name: 'asking', version: '1' };
  send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
});
