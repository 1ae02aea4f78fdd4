import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { sluice } from '../harness/program.js';

/** As a container of the stack is told, with nobody there: what is wrong must be said before anybody is waited for. */
describe('a service whose variables are wrong ends at once, with what is expected', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-variables-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  let right: Record<string, string>;
  beforeAll(() => {
    right = {
      SLUICE_BUS: 'kafka',
      KAFKA_BROKERS: 'localhost:1',
      SCHEMA_REGISTRY_URL: 'http://localhost:1',
      DATABASE_URL_FILE: file('url', 'postgres://sluice:hunter2@localhost:1/sluice'),
      SLUICE_KEYS_FILE: file('keys.json', writeKeySet(newKeySet(0))),
    };
    file('empty', '');
    file('word', 'hunter2');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    [{ SLUICE_PORT: 'http' }, /SLUICE_PORT is "http"; it must be a whole number/],
    [{ SLUICE_LOG_LEVEL: 'loud' }, /SLUICE_LOG_LEVEL is "loud"; it must be one of/],
    [{ SLUICE_PARTITIONS: '0' }, /SLUICE_PARTITIONS is "0"; it must be a whole number from 1/],
    [{ KAFKA_BROKERS: 'kafka' }, /KAFKA_BROKERS holds "kafka"; each broker is host:port/],
    [{ SCHEMA_REGISTRY_URL: 'registry:8080' }, /SCHEMA_REGISTRY_URL must begin with http/],
    [{ DATABASE_URL_FILE: 'none' }, /DATABASE_URL_FILE names the file .*none, which cannot be read: ENOENT/],
    [
      { DATABASE_URL_FILE: 'empty' },
      /DATABASE_URL_FILE names the file .*empty, which is empty\. Put the value of DATABASE_URL into it/,
    ],
    [{ DATABASE_URL_FILE: 'word' }, /DATABASE_URL is no address of a PostgreSQL; it must be like postgres:/],
    [{ SLUICE_KEYS_FILE: 'none' }, /SLUICE_KEYS_FILE names the file .*none, which cannot be read: ENOENT/],
    [{ SLUICE_KEYS_FILE: 'empty' }, /SLUICE_KEYS_FILE names the file .*empty, which is empty/],
    [{ SLUICE_KEYS_FILE: 'word' }, /SLUICE_KEYS_FILE does not hold JSON\. Make it with `sluice keys new`/],
  ])('%j', async (wrong: Record<string, string>, sentence) => {
    const inFolder = Object.entries(wrong).map(([name, value]) => [
      name,
      name.endsWith('_FILE') ? join(folder, value) : value,
    ]);
    const { code, output, errors } = await sluice(['serve', '--role', 'filter'], {
      ...right,
      ...Object.fromEntries(inFolder),
    }).ended;
    expect(code).toBe(1);
    expect(errors).toMatch(sentence);
    expect(output + errors).not.toContain('hunter2');
  });

  it('a port that is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const port = String((other.address() as AddressInfo).port);
    try {
      const { code, errors } = await sluice(['serve', '--role', 'filter'], { ...right, SLUICE_PORT: port }).ended;
      expect([code, errors]).toEqual([
        1,
        expect.stringContaining(`Port ${port} on 127.0.0.1 is taken by another program. Set SLUICE_PORT to a free one`),
      ]);
    } finally {
      other.close();
    }
  });

  it('a volume that cannot be written', async () => {
    const { code, errors } = await sluice(['serve'], { SLUICE_DATA: join(folder, 'word/data') }).ended;
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/The data folder \S+word\/data cannot be written: .* Set SLUICE_DATA to one that can/),
    ]);
  });
});
