/**
 * What stands outside of Sluice for bench/capacity: a model behind OpenAI’s Chat Completions, streamed, that makes as
 * many calls as the question says (“calls 3”), one in each turn, and then answers; and an MCP server with two tools
 * that answer at once. Its port is the first line that it writes.
 */
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

const tools = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'outside', version: '0.1.0' });
    for (const name of ['look', 'act'])
      server.registerTool(name, { description: 'Answers at once.' }, () => ({
        content: [{ type: 'text', text: '{"id":"4711","status":"open","owner":"ann"}' }],
      }));
    return server;
  }),
);

const words = 'The entry 4711 is open, and ann owns it. Nothing else has to be done about it for now.'.split(' ');

const event = (delta, finish = null, usage = undefined) =>
  `data: ${JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'outside' },
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(usage === undefined ? {} : { usage }),
  })}\n\n`;

const used = { prompt_tokens: 300, completion_tokens: 20, total_tokens: 320 };

function turn(body) {
  const { messages = [], tools: offered = [] } = JSON.parse(body);
  const wanted = Number(/calls (\d+)/.exec(JSON.stringify(messages))?.[1] ?? 0);
  const done = messages.filter(({ role }) => role === 'tool').length;
  const name = offered[0]?.function.name;
  if (done < wanted && name !== undefined) {
    const call = { index: 0, id: `c-${done}`, type: 'function', function: { name, arguments: '{}' } };
    return event({ role: 'assistant', content: null, tool_calls: [call] }) + event({}, 'tool_calls', used);
  }
  return words.map((word) => event({ content: `${word} ` })).join('') + event({}, 'stop', used);
}

const http = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/mcp') return tools(request, response);
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${turn(Buffer.concat(chunks).toString())}data: [DONE]\n\n`);
  });
});
process.once('disconnect', () => process.exit());
http.listen(0, '127.0.0.1', () => console.log(http.address().port));
