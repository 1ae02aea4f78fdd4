import { describe, expect, it } from '@jest/globals';
import { StdioProcess } from '../src/stdio-process.js';

/** A server that stops reading and goes on with the rest of the script. */
async function deaf(rest: string): Promise<StdioProcess> {
  const script = `process.stdin.destroy(); require('node:fs').closeSync(0); console.log(JSON.stringify({ jsonrpc: '2.0', method: 'deaf' })); ${rest}`;
  const server = new StdioProcess({ command: process.execPath, args: ['-e', script], environment: {} });
  const isDeaf = new Promise((resolve) => (server.onmessage = resolve));
  server.onerror = () => undefined;
  await server.start();
  await isDeaf;
  return server;
}

const message = { jsonrpc: '2.0', method: 'ping' } as const;

describe('a server whose pipe breaks while it is written to', () => {
  it('is gone if it ends then, and its code is known', async () => {
    const server = await deaf('setTimeout(() => process.exit(3), 300)');
    await expect(server.send(message)).rejects.toThrow('The server’s process is gone.');
    expect(server.exitCode).toBe(3);
  });

  it('is not if it goes on: then it is the pipe that broke', async () => {
    const server = await deaf('setInterval(() => undefined, 1_000)');
    await expect(server.send(message)).rejects.toThrow(/EPIPE/);
    await server.close();
  });
});

describe('what is sent to a server', () => {
  /** A server that gives back what it reads, as one message when its input ends, and in how many pieces it came. */
  const repeating = `let [text, pieces] = ['', 0];
    process.stdin.setEncoding('utf8').on('data', (piece) => { text += piece; pieces++; });
    process.stdin.on('end', () => console.log(JSON.stringify({ jsonrpc: '2.0', method: 'read', params: { text, pieces } })));`;

  it('goes out in one write a turn, in order and whole, also if the server is closed in the same turn', async () => {
    const server = new StdioProcess({ command: process.execPath, args: ['-e', repeating], environment: {} });
    const read = new Promise<unknown>((resolve) => (server.onmessage = resolve));
    await server.start();
    const messages = Array.from({ length: 8 }, (_, at) => ({ jsonrpc: '2.0' as const, method: `number-${at}` }));
    const sent = Promise.all(messages.map((one) => server.send(one)));
    await server.close();
    await sent;
    const text = messages.map((one) => `${JSON.stringify(one)}\n`).join('');
    expect(await read).toEqual({ jsonrpc: '2.0', method: 'read', params: { text, pieces: 1 } });
  });

  it('is refused once it is closed', async () => {
    const server = new StdioProcess({ command: process.execPath, args: ['-e', repeating], environment: {} });
    await server.start();
    await server.close();
    await expect(server.send(message)).rejects.toThrow('The server’s process is gone.');
  });
});
