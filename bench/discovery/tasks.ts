import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { TokenCounter } from '@sluice/tokens';
import { report } from '../measure.js';
import { startSluice } from './child.js';
import { hasModel, modelFolder } from './ranking.js';
import { chatTool, readSample } from './samples.js';

const tasks = 150;
const searchTool = 'gateway_search_tools';

/**
 * How the model words a search: by the words of its question, or by the one word that says most about the tool that
 * it needs.
 */
type Wording = 'question' | 'right word';

interface Way {
  readonly name: string;
  /** The settings of discovery; null for none. */
  readonly pipe: string;
  readonly wording: Wording;
}

const model = `embeddings: { provider: local, folder: ${modelFolder}, timeout: 60s }`;
const ways: readonly Way[] = [
  { name: 'passthrough', pipe: '{ enabled: true, strategy: passthrough }', wording: 'question' },
  { name: 'relevance', pipe: '{ enabled: true, strategy: relevance }', wording: 'question' },
  { name: 'ranked', pipe: '{ enabled: true, strategy: ranked }', wording: 'question' },
  { name: 'ranked, 5 tools', pipe: '{ enabled: true, strategy: ranked, max_tools: 5 }', wording: 'question' },
  {
    name: 'ranked, 5 tools, and the search tool',
    pipe: '{ enabled: true, strategy: ranked, max_tools: 5, enable_search_fallback: true }',
    wording: 'question',
  },
  ...(hasModel()
    ? [
        {
          name: 'hybrid, 5 tools',
          pipe: `{ enabled: true, strategy: hybrid, max_tools: 5, ${model} }`,
          wording: 'question' as const,
        },
      ]
    : []),
  {
    name: 'tool-search, by the question’s words',
    pipe: '{ enabled: true, strategy: tool-search }',
    wording: 'question',
  },
  { name: 'tool-search, by the right word', pipe: '{ enabled: true, strategy: tool-search }', wording: 'right word' },
];

/**
 * What a task costs until it is done, through the proxy and its rounds of searches: all that the model read in all
 * requests. The model is made up: it calls the right tool when it is shown it, searches up to three times when it
 * can, and else answers that it has no tool.
 */
export async function benchTasks(): Promise<void> {
  const sample = readSample('bfcl');
  const tools = sample.tools.map(chatTool);
  const answered = sample.questions.map(([question, [right = '']]) => [question, right] as const);
  const wanted = new Map(answered);
  const definitions = sample.tools.map(({ name, description }) => ({ name, words: wordsOf(`${name} ${description}`) }));
  const questions = answered.slice(0, tasks);
  const counter = new TokenCounter();
  const lines: string[] = [];
  for (const { name, pipe, wording } of ways) {
    const seen = { tokens: 0, requests: 0 };
    const server = await startModel(async (asked) => {
      seen.requests++;
      seen.tokens += await tokensOf(asked, counter);
      const question = asked.messages.find(({ role }) => role === 'user')?.content ?? '';
      const right = wanted.get(question) ?? '';
      return turnOf(asked, right, queriesOf(question, { right, wording, definitions }));
    });
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const sluice = await startSluice(
      `tool: {}\nproxy: { upstreams: { model: { api: openai, url: '${url}' } } }\npipes: { tool_discovery: ${pipe} }\n`,
    );
    try {
      let done = 0;
      for (const [question, right] of questions) if (await finish(sluice.url, question, { tools, right })) done++;
      lines.push(
        `  ${name.padEnd(42)} ${pad(seen.tokens / tasks)} ${pad(seen.tokens / Math.max(1, done))} ${(seen.requests / tasks).toFixed(2).padStart(10)} ${`${((100 * done) / tasks).toFixed(0)} %`.padStart(10)}`,
      );
    } finally {
      await sluice.close();
      server.closeAllConnections();
      server.close();
    }
  }
  report(`Tokens that a made-up model reads per task, ${tasks} ${sample.title.replace(/^\d+ /, '')}`, []);
  const heads = ['per task', 'per finished', 'requests', 'finished'];
  console.log(`  ${''.padEnd(42)}${heads.map((head) => head.padStart(head === 'per finished' ? 13 : 11)).join('')}`);
  for (const line of lines) console.log(line);
}

function pad(tokens: number): string {
  return tokens.toFixed(0).padStart(11);
}

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

interface Asked {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/**
 * The client: asks with all its tools, and answers calls, until the model makes none. Returns whether the right tool
 * was called.
 */
async function finish(
  url: string,
  question: string,
  { tools, right }: { readonly tools: readonly object[]; readonly right: string },
): Promise<boolean> {
  const messages: Message[] = [{ role: 'user', content: question }];
  const called = new Set<string>();
  for (let turn = 0; turn < 4; turn++) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5', messages, tools }),
    });
    if (!response.ok) throw new Error(`The proxy answered ${String(response.status)}: ${await response.text()}`);
    const { choices } = (await response.json()) as { choices: readonly { message: Message }[] };
    const message = choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    if (message === undefined || calls.length === 0) break;
    messages.push(message);
    for (const call of calls) {
      called.add(call.function.name);
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'Done.' });
    }
  }
  return called.has(right);
}

/** What the model says: the right tool if it is shown it, a search if it has one left, else words. */
function turnOf({ messages, tools = [] }: Asked, right: string, queries: readonly string[]): Message {
  const names = new Set(tools.map((tool) => tool.function.name));
  const calls = messages.flatMap(({ tool_calls: made = [] }) => made);
  const call = (name: string, args: object): Message => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `call_${String(calls.length)}`, function: { name, arguments: JSON.stringify(args) } }],
  });
  if (calls.some((made) => made.function.name === right)) return { role: 'assistant', content: 'It is done.' };
  if (names.has(right)) return call(right, {});
  const query = queries[calls.length];
  if (names.has(searchTool) && query !== undefined) return call(searchTool, { query });
  return { role: 'assistant', content: 'I have no tool for that.' };
}

interface Definition {
  readonly name: string;
  readonly words: ReadonlySet<string>;
}

/**
 * Three searches at most, the rarest words first. A model knows what is rare in general; here it is what is rare
 * among the tools.
 */
function queriesOf(
  question: string,
  {
    right,
    wording,
    definitions,
  }: { readonly right: string; readonly wording: Wording; readonly definitions: readonly Definition[] },
): readonly string[] {
  const own = definitions.find(({ name }) => name === right)?.words ?? new Set<string>();
  const spread = (word: string): number => definitions.filter(({ words }) => words.has(word)).length;
  const words = [...(wording === 'question' ? wordsOf(question) : own)].filter((word) => spread(word) > 0);
  const rarest = words.toSorted((one, other) => spread(one) - spread(other));
  if (wording === 'right word') return rarest.slice(0, 3);
  return [rarest.slice(0, 3), rarest.slice(3, 6), rarest.slice(6, 9)]
    .filter((some) => some.length > 0)
    .map((some) => some.join('|'));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[a-z]{4,}/g) ?? []);
}

/** Tokens of a request: definitions, texts and calls. */
async function tokensOf({ messages, tools = [] }: Asked, counter: TokenCounter): Promise<number> {
  const calls = messages.flatMap(({ tool_calls: made = [] }) => made);
  const texts = [
    ...tools.map((tool) => JSON.stringify(tool)),
    ...messages.map(({ content }) => content ?? ''),
    ...calls.map((made) => `${made.function.name} ${made.function.arguments}`),
  ];
  return (await counter.count(texts, 'gpt-5')).tokens;
}

async function startModel(answer: (asked: Asked) => Promise<Message>): Promise<Server> {
  let ids = 0;
  const server = createServer((request, response) => {
    void bodyOf(request)
      .then((text) => answer(JSON.parse(text) as Asked))
      .then((message) => {
        const calls = message.tool_calls?.map((made) => ({ ...made, type: 'function' }));
        const said = { ...message, refusal: null, ...(calls === undefined ? {} : { tool_calls: calls }) };
        const finish_reason = calls === undefined ? 'stop' : 'tool_calls';
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
        const body = {
          ...{ id: `chatcmpl-${String(++ids)}`, object: 'chat.completion', created: 0, model: 'gpt-5', usage },
          choices: [{ index: 0, message: said, finish_reason }],
        };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      })
      .catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
