import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that gives each request to the next of several doors, as a balancer without sticky sessions does. */
export interface RoundRobin {
  readonly url: string;
  /** To which door requests go from now on; null: to each in its turn. */
  only: number | null;
  /** The requests so far, as `POST tools/call`, and which door got each. */
  readonly seen: readonly { readonly door: number; readonly name: string }[];
  /** Puts another door in the place of one. */
  replace(door: number, url: string): void;
  /** Breaks the connections of clients whose requests are named so, and of the doors behind them. */
  cut(named: string): number;
  close(): Promise<void>;
}

export async function roundRobin(first: readonly string[]): Promise<RoundRobin> {
  const doors = [...first];
  const seen: { readonly door: number; readonly name: string }[] = [];
  const open = new Set<{ readonly name: string; end(): void }>();
  let turn = 0;
  const pass = async (came: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of came) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const door = proxy.only ?? turn++ % doors.length;
    const name = `${came.method ?? ''}${nameIn(body)}`;
    seen.push({ door, name });
    const { hostname, port } = new URL(doors[door] ?? '');
    const headers = { ...came.headers, host: `${hostname}:${port}` };
    const passed = request({ hostname, port, path: came.url, method: came.method, headers, agent: false });
    const one = {
      name,
      end: () => {
        answer.destroy();
        passed.destroy();
      },
    };
    open.add(one);
    passed.on('response', (said) => {
      answer.writeHead(said.statusCode ?? 502, said.headers);
      answer.flushHeaders();
      said.on('error', () => answer.destroy());
      said.pipe(answer);
    });
    passed.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
    answer.on('close', () => {
      open.delete(one);
      passed.destroy();
    });
    passed.end(body);
  };
  const server = createServer((came, answer) => void pass(came, answer).catch(() => answer.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: RoundRobin = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    only: null,
    seen,
    replace: (door, url) => void (doors[door] = url),
    cut: (named) => {
      const all = [...open].filter(({ name }) => name === named);
      for (const one of all) one.end();
      return all.length;
    },
    close: async () => {
      for (const one of open) one.end();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function nameIn(body: Buffer): string {
  if (body.length === 0) return '';
  const { method } = JSON.parse(body.toString()) as { readonly method?: string };
  return ` ${method ?? 'answer'}`;
}
