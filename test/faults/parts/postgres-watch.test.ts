import { beforeAll, describe, expect, it } from '@jest/globals';
import { openPostgresLedger } from '@sluice/ledger';
import { infra, startTimeout } from '../../infra/client.ts';
import { freshDatabase } from '../../infra/fresh.ts';
import { freePort } from '../../infra/ports.ts';
import { watchPostgres } from './postgres-watch.ts';
import { TcpProxy } from './tcp-proxy.ts';

describe('who watches PostgreSQL’s protocol', () => {
  beforeAll(() => infra('postgres'), startTimeout);

  it('knows each of the ledger’s statements, the first time and when it is prepared', async () => {
    const { url, drop } = await freshDatabase((await infra('postgres')).databaseUrl);
    const there = new URL(url);
    const seen: string[] = [];
    const watch = watchPostgres((what) => seen.push(what) < 0);
    const line = await TcpProxy.open(await freePort(), Number(there.port), watch);
    there.port = String(line.port);
    const ledger = await openPostgresLedger({ url: there.href, instance: 'watched' });
    const saidOf = async (asked: Promise<unknown>): Promise<string[]> => {
      seen.length = 0;
      await asked;
      return [...seen];
    };
    const claim = (key: string) => ledger.claim({ key, owner: 'a', now: 0, ttlMs: 1_000 });
    try {
      for (const attempt of [1, 2])
        for (const [key, what] of [
          ['effect', 'claim of an effect'],
          ['turn', 'claim of a turn'],
          ['request', 'claim of a request'],
          ['call/decided', 'decision of a call'],
          ['end', 'claim of an end'],
        ] as const)
          expect(await saidOf(claim(`${key}/${attempt}`))).toEqual([`${what} request`, `${what} response`]);
      expect(await saidOf(ledger.settle('effect/1', 'a', '"done"'))).toEqual(['outcome request', 'outcome response']);
    } finally {
      await ledger.close();
      await line.close();
      await drop();
    }
  });
});
