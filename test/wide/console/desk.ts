import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Texts that would do something if a page took them for anything but text. */
export const hostile = [
  '<script>window.__ran = 1; alert(1)</script>',
  '<img src=x onerror="window.__ran = 1; alert(1)">',
  '<svg xmlns="http://www.w3.org/2000/svg" onload="window.__ran = 1"><script>window.__ran = 1</script></svg>',
  '<iframe srcdoc="<script>parent.__ran = 1</script>"></iframe>',
  '<style>body { display: none }</style><link rel="stylesheet" href="http://elsewhere.example/x.css">',
  '[click me](javascript:window.__ran=1) ![picture](http://elsewhere.example/track.png)',
  '<a href="javascript:window.__ran=1">click</a><form action="http://elsewhere.example"><button>go</button></form>',
  '<math><mtext><table><mglyph><style><img src=x onerror=window.__ran=1></style></mglyph></table></mtext></math>',
  '"><script>window.__ran=1</script><!-- \u202e txt.exe \u0000 ]]> {{constructor.constructor("window.__ran=1")()}}',
] as const;

export const hostileText = hostile.join('\n');

export interface Desk {
  readonly configFile: string;
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * A configuration with everything that pages show: tools that read, one that asks for an approval, one with a hostile
 * result, one as large as results may be, groups and states, and a model that makes the calls that the question names,
 * a line each, as `tool {"arguments": …}`, and then answers with the last result’s text.
 */
export async function desk(folder: string, more = ''): Promise<Desk> {
  const tools = join(folder, 'tools');
  mkdirSync(tools, { recursive: true });
  const tool = (type: string, effect: string, input: string, execute: string, description: string): void =>
    writeFileSync(
      join(tools, `${type}.mjs`),
      `export default ({ defineTool, z }) => defineTool({
  type: ${JSON.stringify(type)}, description: ${JSON.stringify(description)}, input: z.object({ ${input} }), output: z.object({ text: z.string() }),
  effect: '${effect}', redaction: { fields: ['text'] }, capabilities: [], repeatable: true, requiresConnection: false,
  execute: async (args) => { ${execute} } });\n`,
    );
  tool('look-up', 'read_only', 'id: z.string()', "return { text: 'order ' + args.id };", 'Looks up an order');
  tool(
    'refund',
    'external_side_effect',
    'id: z.string(), amount: z.number()',
    "return { text: 'refunded ' + args.id };",
    'Refunds an order',
  );
  tool('hostile', 'read_only', '', `return { text: ${JSON.stringify(hostileText)} };`, `Says ${hostileText}`);
  tool('large', 'read_only', '', "return { text: 'x'.repeat(250_000) };", 'Gives a quarter of a megabyte');
  const model = await echoingModel();
  const configFile = join(folder, 'sluice.yaml');
  writeFileSync(
    configFile,
    `tool_folders: [${tools}]
tool:
  look-up: { type: look-up, group: [read, support], available_in_states: [undefined, found], state: found }
  refund: { type: refund, group: [write, support], available_in_states: [found], state: refunded }
  hostile: { type: hostile, group: [read] }
  large: { type: large, group: [read] }
policy:
  allowed_tools: ['*']
  approval: { approvers: ['*'] }
model: { provider: openai-compatible, name: echo, base_url: "${model.url}" }
limits: { result_bytes: 262144, history_bytes: 350000 }
${more}`,
  );
  return { configFile, variables: { SLUICE_CONFIG: configFile }, close: model.close };
}

/** An OpenAI-compatible endpoint: a question such as `look-up {"id":"7"}` is a call, a result is the answer. */
async function echoingModel(): Promise<{ readonly url: string; close(): Promise<void> }> {
  interface Message {
    readonly role: string;
    readonly content: string | null;
  }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { messages, tools = [] } = JSON.parse(Buffer.concat(pieces).toString()) as {
        readonly messages: readonly Message[];
        readonly tools?: readonly { readonly function: { readonly name: string } }[];
      };
      const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
      const results = messages.filter(({ role }) => role === 'tool');
      const wanted = question.split('\n').flatMap((line) => {
        const [, name = '', args = '{}'] = /^([a-z-]+) ?(\{.*\})?$/.exec(line) ?? [];
        const offered = tools.find((tool) => tool.function.name.endsWith(`__${name}`) && name !== '');
        return offered === undefined ? [] : [[offered.function.name, args] as const];
      });
      const call = wanted[results.length];
      const content = results.at(-1)?.content ?? `You asked: ${question}`;
      const delta =
        call === undefined
          ? { role: 'assistant', content: content.slice(0, 20_000) }
          : {
              role: 'assistant',
              tool_calls: [
                {
                  index: 0,
                  id: `call-${results.length}`,
                  type: 'function',
                  function: { name: call[0], arguments: call[1] },
                },
              ],
            };
      const chunk = (part: object, reason: string | null): string =>
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'echo', choices: [{ index: 0, delta: part, finish_reason: reason }] })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chunk(delta, null)}${chunk({}, call === undefined ? 'stop' : 'tool_calls')}data: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
