import { describe, expect, it } from '@jest/globals';
import { createLog, openLedger, readEnvironment } from '@sluice/host';
import { infra } from '../../../test/infra/client.ts';
import { freshDatabase } from '../../../test/infra/fresh.ts';

const claim = { key: 'request/r-1', now: 1_000, ttlMs: 60_000 };

describe('two logs with different prefixes, whose ledgers are in one database', () => {
  it.each([
    ['none and one', '', 'staging-'],
    ['alike but for the end', 'staging-', 'staging_'],
    ['longer than a name in PostgreSQL', `${'long-'.repeat(20)}a-`, `${'long-'.repeat(20)}b-`],
  ])('know nothing of each other’s claims: prefixes %s', async (_, one, other) => {
    const database = await freshDatabase((await infra('postgres')).databaseUrl);
    const owned = async (prefix: string, owner: string): Promise<string> => {
      const environment = readEnvironment({
        SLUICE_BUS: 'kafka',
        KAFKA_BROKERS: 'localhost:9092',
        SCHEMA_REGISTRY_URL: 'http://localhost:8081',
        DATABASE_URL: database.url,
        SLUICE_PREFIX: prefix,
      });
      const { ledger } = await openLedger(environment, createLog('silent'));
      try {
        return (await ledger.claim({ ...claim, owner })).owner;
      } finally {
        await ledger.close();
      }
    };
    try {
      expect(await owned(one, 'first')).toBe('first');
      expect(await owned(other, 'second')).toBe('second');
      expect(await owned(one, 'third')).toBe('first');
    } finally {
      await database.drop();
    }
  });
});
