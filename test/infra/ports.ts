import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const taken = new Set<number>();

/**
 * A port of 127.0.0.1 that nobody listens on, and that is not handed out twice. Below the range from which systems
 * take the ports of outgoing connections: a part that is stopped and started again must find its own still free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
