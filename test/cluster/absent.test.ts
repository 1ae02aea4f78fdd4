import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { sluice } from '../harness/program.js';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

describe('a cluster that is not there', () => {
  it('leaves a service alive and not ready, saying what it waits for; it stops when asked', async () => {
    const [port, nobody] = [await freePort(), await freePort()];
    const program = sluice(['serve', '--role', 'filter'], {
      SLUICE_BUS: 'kafka',
      SLUICE_PORT: String(port),
      KAFKA_BROKERS: `127.0.0.1:${nobody}`,
      SCHEMA_REGISTRY_URL: `http://127.0.0.1:${nobody}`,
      SLUICE_KEYS: writeKeySet(newKeySet(0)),
      DATABASE_URL: `postgres://u:secret@127.0.0.1:${nobody}/d`,
    });
    await program.says(`The log cannot be opened: Kafka at 127.0.0.1:${nobody}`);
    const ready = await fetch(`http://127.0.0.1:${port}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      {
        status: 'unavailable',
        checks: { log: expect.stringMatching(`^The log cannot be opened: Kafka at 127.0.0.1:${nobody} `) },
        figures: {},
      },
    ]);
    expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
    program.process.kill('SIGTERM');
    const { code, output, errors } = await program.ended;
    expect(code).toBe(0);
    expect(output + errors).not.toContain('secret');
  });

  it.each([
    [{ KAFKA_BROKERS: '' }, 'KAFKA_BROKERS is not set'],
    [{ DATABASE_URL: '' }, 'DATABASE_URL is not set'],
    [
      { SLUICE_KEYS: '' },
      'SLUICE_KEYS is not set, so what the services sign can be neither made nor verified. Run `sluice keys new` once',
    ],
    [{ SCHEMA_REGISTRY_URL: '' }, 'SCHEMA_REGISTRY_URL is not set'],
  ])('is refused at once where a variable is missing: %j', async (missing, said) => {
    const variables = {
      SLUICE_BUS: 'kafka',
      KAFKA_BROKERS: 'localhost:1',
      SCHEMA_REGISTRY_URL: 'http://localhost:1',
      DATABASE_URL: 'postgres://localhost:1/d',
      SLUICE_KEYS: 'not read yet',
      ...missing,
    };
    const { code, errors } = await sluice(['serve'], variables).ended;
    expect(code).toBe(1);
    expect(errors).toContain(said);
  });
});
