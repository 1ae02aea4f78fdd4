/**
 * Says how often it was asked, so that what was not asked shows; with an effect, a tool that fails, a resource and a
 * prompt.
 */
import { createInterface } from 'node:readline';

const object = (properties) => ({ type: 'object', properties });
const tools = [
  {
    name: 'look',
    title: 'Look around',
    description: 'Look it up.',
    icons: [
      { src: 'https://example.com/look.png', mimeType: 'image/png', sizes: ['48x48', 'large'], theme: 'dark' },
      { src: 'javascript:alert(1)' },
      { src: 'https://user@example.com/look.png' },
    ],
    inputSchema: object({ what: { type: 'string' } }),
  },
  { name: 'fail', description: 'Fail each time.', inputSchema: object({}) },
  { name: 'change', description: 'Change it.', inputSchema: object({}) },
];
let asked = 0;

function call({ name, arguments: args }) {
  asked++;
  if (name === 'fail') return { content: [{ type: 'text', text: `failed ${asked}` }], isError: true };
  return { content: [{ type: 'text', text: `${name} ${args.what ?? ''} ${asked}` }] };
}

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, resources: {}, prompts: {} },
        instructions: 'Look around.',
        serverInfo: { name: 'counting', version: '1' },
      };
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return call(params);
    case 'resources/list':
      return { resources: ['a', 'b', 'secret'].map((name) => ({ uri: `count://${name}`, name })) };
    case 'resources/templates/list':
      return { resourceTemplates: [{ uriTemplate: 'count://{name}', name: 'any' }] };
    case 'resources/read':
      asked++;
      return { contents: [{ uri: params.uri, mimeType: 'text/plain', text: `${params.uri} ${asked}` }] };
    case 'prompts/list':
      return {
        // With a hidden character.
        prompts: [{ name: 'review', description: 'Rev\u200Biew it.', arguments: [{ name: 'what', required: true }] }],
      };
    case 'prompts/get':
      return { messages: [{ role: 'user', content: { type: 'text', text: `Review ${params.arguments.what}.` } }] };
    default:
      return null;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  const result = answer(message);
  const said = result === null ? { error: { code: -32601, message: 'Method not found' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...said })}\n`);
});
