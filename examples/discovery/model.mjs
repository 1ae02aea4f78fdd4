/**
 * A made-up model behind OpenAI’s Chat Completions, streamed: it searches if it can, calls the first tool that fits,
 * and answers from its result.
 */
import { createServer } from 'node:http';

const stopWords = new Set([
  'the',
  'last',
  'did',
  'why',
  'what',
  'who',
  'how',
  'is',
  'of',
  'for',
  'and',
  'are',
  'in',
  'to',
  'me',
]);
const wordsOf = (text) => (text.toLowerCase().match(/[a-z]{3,}/g) ?? []).filter((word) => !stopWords.has(word));

/** What the model says to a conversation. */
function turnOf({ messages, tools = [] }) {
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const last = messages.at(-1);
  const words = wordsOf(question);
  const hits = (tool) => {
    const text = wordsOf(`${tool.function.name.replaceAll('_', ' ')} ${tool.function.description}`);
    return words.filter((word) => text.some((other) => other.startsWith(word) || word.startsWith(other))).length;
  };
  const [best] = tools
    .filter((tool) => tool.function.name !== 'gateway_search_tools' && hits(tool) > 0)
    .toSorted((one, other) => hits(other) - hits(one));
  if (
    last.role === 'tool' &&
    !/gateway_search_tools/.test(last.name ?? '') &&
    best !== undefined &&
    last.content.startsWith('result of ')
  )
    return { text: `The ${last.content}` };
  if (best !== undefined) return { call: best.function.name, args: '{}' };
  const canSearch = tools.some((tool) => tool.function.name === 'gateway_search_tools');
  const hasSearched = messages.some((message) => message.role === 'tool');
  if (canSearch && !hasSearched)
    return { text: 'Let me see. ', call: 'gateway_search_tools', args: JSON.stringify({ query: words.join('|') }) };
  return { text: 'I have no tool for that.' };
}

/** Starts it; `requests` gets, for every request, the number of its tools and the bytes of their list. */
export function startModel(port, requests = []) {
  let ids = 0;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    const toolBytes = Buffer.byteLength(JSON.stringify(asked.tools ?? []));
    requests.push({ tools: asked.tools?.length ?? 0, bytes: toolBytes });
    const { text, call, args } = turnOf(asked);
    const id = `chatcmpl-${String(++ids)}`;
    const event = (delta, finish_reason = null) =>
      `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model: asked.model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event({ role: 'assistant', content: '' }));
    for (const word of (text ?? '').split(/(?<= )/)) if (word !== '') response.write(event({ content: word }));
    if (call !== undefined)
      response.write(
        event({
          tool_calls: [
            { index: 0, id: `call_${String(ids)}`, type: 'function', function: { name: call, arguments: args } },
          ],
        }),
      );
    response.end(`${event({}, call === undefined ? 'stop' : 'tool_calls')}data: [DONE]\n\n`);
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}
