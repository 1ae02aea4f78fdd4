/** A shop whose orders can be asked for by the key of the call that placed them. */
import { createInterface } from 'node:readline';

const number = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] };
const tools = [
  {
    name: 'place',
    description: 'Place an order.',
    inputSchema: { type: 'object', properties: {} },
    outputSchema: number,
  },
  {
    name: 'outcome_of',
    description: 'Whether an order was placed.',
    inputSchema: { type: 'object', properties: { key: { type: 'string' }, arguments: { type: 'object' } } },
  },
];

function answer({ method, params }) {
  if (method === 'initialize')
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'orders', version: '1' },
    };
  if (method === 'tools/list') return { tools };
  const { key } = params.arguments;
  const own = params._meta?.['sluice/idempotency-key'];
  const said =
    key === 'placed' && own === 'placed/reconcile'
      ? { outcome: 'happened', result: { number: 7 } }
      : { outcome: key === 'lost' ? 'did_not_happen' : 'perhaps' };
  return { content: [{ type: 'text', text: JSON.stringify(said) }] };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) })}\n`);
});
