import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Parts } from './parts.ts';
import type { Answer, Command } from './protocol.ts';

/**
 * Owns every process and container of a test run. It starts a part when the first test asks, tells its parent where
 * it listens, and when the channel to the parent closes, whatever the reason, it ends all of them and itself.
 */
const folder = mkdtempSync(join(tmpdir(), 'sluice-infra-'));
// PostgreSQL refuses to run as root, and whoever it runs as instead must get to its data.
chmodSync(folder, 0o711);
const parts = new Parts(folder, (notice) => console.error(`infra: ${notice}`));

const server = createServer((request, response) => {
  void answer(request).then((reply) => response.end(JSON.stringify(reply)));
});

async function answer(request: IncomingMessage): Promise<Answer> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return { started: await parts.obey(JSON.parse(Buffer.concat(chunks).toString()) as Command) };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

let ending = false;
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  server.close();
  try {
    await parts.end();
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit();
  }
}

process.on('disconnect', () => void end());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());

server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  // The parent may be gone already; then `disconnect` has been heard, and there is nobody to tell.
  if (process.connected) process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  else void end();
});
