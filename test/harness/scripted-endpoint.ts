import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call of a script: the tool's id and its arguments. */
export type ScriptedCall = readonly [tool: string, args: string];

export interface ScriptedEndpoint {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** Which call a model makes in a turn, counted from 0, with these tools offered; undefined: it answers. */
export type Script = (turn: number, offered: readonly string[]) => ScriptedCall | undefined;

/**
 * An OpenAI-compatible endpoint whose model makes these calls in order, one a turn, then answers; each turn takes
 * some time.
 */
export async function scriptedEndpoint(
  script: readonly ScriptedCall[] | Script,
  turnMs: number | ((offered: readonly string[]) => number),
): Promise<ScriptedEndpoint> {
  return scriptedParallelEndpoint((turn, offered) => {
    const call = typeof script === 'function' ? script(turn, offered) : script[turn];
    return call === undefined ? [] : [call];
  }, turnMs);
}

/** The same with a model that may make several calls in a turn; none: it answers. `turn` counts results so far. */
export async function scriptedParallelEndpoint(
  script: (turn: number, offered: readonly string[]) => readonly ScriptedCall[],
  turnMs: number | ((offered: readonly string[]) => number),
): Promise<ScriptedEndpoint> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const { messages, tools = [] } = JSON.parse(body) as {
        messages: { role: string }[];
        tools?: { function: { name: string } }[];
      };
      const offered = tools.map((tool) => tool.function.name);
      const turn = messages.filter((message) => message.role === 'tool').length;
      const calls = script(turn, offered);
      const ms = typeof turnMs === 'number' ? turnMs : turnMs(offered);
      setTimeout(() => response.end(eventsOf(calls, turn)), ms);
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** What such an endpoint streams for a turn of one call, or of the answer. */
export function events(call: ScriptedCall | undefined, turn: number): string {
  return eventsOf(call === undefined ? [] : [call], turn);
}

function eventsOf(calls: readonly ScriptedCall[], turn: number): string {
  const delta =
    calls.length === 0
      ? { role: 'assistant', content: 'All is done.' }
      : {
          role: 'assistant',
          tool_calls: calls.map(([name, args], index) => {
            return { index, id: `call-${turn + index}`, type: 'function', function: { name, arguments: args } };
          }),
        };
  const chunk = (part: object, reason: string | null): string =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, delta: part, finish_reason: reason }] })}\n\n`;
  return `${chunk(delta, null)}${chunk({}, calls.length === 0 ? 'stop' : 'tool_calls')}data: [DONE]\n\n`;
}
