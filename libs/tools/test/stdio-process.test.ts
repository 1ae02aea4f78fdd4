import { describe, expect, it } from '@jest/globals';
import { StdioProcess } from '../src/mcp/stdio-process.js';

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
