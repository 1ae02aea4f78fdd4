import { freePort } from '../../infra/ports.ts';
import type { Seen } from './kafka-watch.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A server of the suite's own, at a port of 127.0.0.1. */
interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Puts a line before a server: `url` leads over it, and what the server sees is told with the port of the client, not
 * that of the line.
 */
export async function behindLine<T extends Server>(
  start: (seen: Seen) => Promise<T>,
  seen: Seen,
): Promise<T & { readonly line: TcpProxy }> {
  const server = await start((what, port) => seen(what, line.clientOf(port)));
  const url = new URL(server.url);
  const watch = () => ({ toServer: () => true, toClient: () => true });
  const line: TcpProxy = await TcpProxy.open(await freePort(), Number(url.port), watch);
  url.port = String(line.port);
  const close = async (): Promise<void> => {
    await line.close();
    await server.close();
  };
  return { ...server, url: url.href, line, close };
}
