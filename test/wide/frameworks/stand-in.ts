import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/**
 * In place of the model of a framework, which costs a key: calls the knowledge graph once, and answers with what that
 * said. It has no check of its own, so that only the framework and Sluice decide what is called.
 */
export async function startStandIn(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const piece of request) body += String(piece);
  const message = turnOf(JSON.parse(body) as Asked);
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      ...{ id: 'turn', object: 'chat.completion', created: 1, model: 'gpt-5' },
      choices: [{ index: 0, message, finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  );
}

function turnOf({ messages, tools = [] }: Asked): Json {
  const result = messages.findLast(({ role }) => role === 'tool');
  if (result !== undefined) return { role: 'assistant', content: `It says: ${JSON.stringify(result.content)}` };
  const tool = tools.find(({ function: { name } }) => name.includes('knowledge'));
  if (tool === undefined) return { role: 'assistant', content: 'I have no knowledge graph.' };
  const args = '{"sparql":"SELECT * WHERE { ?s ?p ?o } LIMIT 1"}';
  const call = { id: 'call_1', type: 'function', function: { name: tool.function.name, arguments: args } };
  return { role: 'assistant', content: null, tool_calls: [call] };
}
