/**
 * A server over stdio that asks its client in the middle of a call: `ask` sends each of the given requests, one after
 * another, and answers with what came back. `long` runs as a task, of as many looks as its argument says.
 */
import { createInterface } from 'node:readline';

const inputSchema = { type: 'object', properties: { requests: { type: 'array', items: { type: 'object' } } } };
const tools = [
  { name: 'ask', description: 'Asks.', inputSchema },
  {
    ...{ name: 'long', description: 'Takes long.', execution: { taskSupport: 'required' } },
    inputSchema: { type: 'object', properties: { looks: { type: 'number' } } },
  },
];
const tasks = new Map();
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

const offered = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };

const shown = (taskId, status) => ({ taskId, status, ttl: null, pollInterval: 1, statusMessage: `It is ${status}.` });

function begin(id, { arguments: { looks }, task }) {
  if (task === undefined) return send({ id, error: { code: -32601, message: 'This tool runs as a task.' } });
  const taskId = `t${tasks.size + 1}`;
  tasks.set(taskId, { looks, status: 'working' });
  send({ id, result: { task: shown(taskId, 'working') } });
}

function ofTask(id, method, taskId) {
  const task = tasks.get(taskId);
  if (method === 'tasks/cancel') task.status = 'cancelled';
  else if (method === 'tasks/get' && --task.looks <= 0) task.status = 'completed';
  if (method !== 'tasks/result') return send({ id, result: shown(taskId, task.status) });
  const text = [...tasks].map(([name, { status }]) => `${name} ${status}`).join(', ');
  const _meta = { 'io.modelcontextprotocol/related-task': { taskId } };
  send({ id, result: { content: [{ type: 'text', text }], _meta } });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(answer);
  if (id === undefined) return;
  if (method === 'tools/call' && params.name === 'long') return begin(id, params);
  if (method === 'tools/call') return ask(id, params.arguments.requests);
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method.startsWith('tasks/')) return ofTask(id, method, params.taskId);
  if (method !== 'initialize') return send({ id, error: { code: -32601, message: 'Method not found' } });
  capabilities = params.capabilities;
  const serverInfo = { name: 'asking', version: '1' };
  send({ id, result: { protocolVersion: params.protocolVersion, capabilities: offered, serverInfo } });
});
