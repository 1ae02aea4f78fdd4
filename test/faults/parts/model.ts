import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { events } from '../../harness/scripted-endpoint.ts';
import type { ScriptedCall } from '../../harness/scripted-endpoint.ts';
import type { Seen } from './kafka-watch.ts';

/**
 * How long the model thinks, and how long about every fifth run, so that others of its partition are done before it,
 * milliseconds.
 */
const [turnMs, longTurnMs] = [5, 700];

export interface Model {
  readonly url: string;
  close(): Promise<void>;
}

/** The tool calls of every run, in order; then the model answers. */
export const turnsOfARun = 3;

/** An OpenAI-compatible endpoint: looks at the time, then acts twice in the name of the run that its question names. */
export async function startModel(seen: Seen): Promise<Model> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      if (seen('model asked', request.socket.remotePort ?? 0)) return void response.destroy();
      const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
      const turn = messages.filter((message) => message.role === 'tool').length;
      const run = /run (\S+)/.exec(JSON.stringify(messages.find(({ role }) => role === 'user')?.content))?.[1] ?? '';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const name = run.replace(/"$/, '');
      setTimeout(() => response.end(events(callOf(name, turn), turn)), /[05]$/.test(name) ? longTurnMs : turnMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function callOf(run: string, turn: number): ScriptedCall | undefined {
  if (turn >= turnsOfARun) return undefined;
  return turn === 0 ? ['core__now', '{}'] : ['mcp__effects__act', JSON.stringify({ run, turn })];
}
