import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { openPostgresContent } from '@sluice/content';
import { infra, startTimeout } from '../../../test/infra/client.ts';
import { freshDatabase } from '../../../test/infra/fresh.ts';
import { contentContract } from './contract.js';

beforeAll(() => infra('postgres'), startTimeout);

async function place() {
  const { url, drop } = await freshDatabase((await infra('postgres')).databaseUrl);
  const run = async (text: string): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    url,
    run,
    open: (options: Omit<Parameters<typeof openPostgresContent>[0], 'url' | 'instance'>) =>
      openPostgresContent({ url, instance: 'test', ...options }),
    everything: async () => {
      const parts = await run('select bytes from sluice_content_parts');
      return Buffer.concat(parts.map(({ bytes }) => bytes as Buffer));
    },
    damage: async () => {
      await run('update sluice_content_parts set bytes = set_byte(bytes, 10, get_byte(bytes, 10) # 1)');
    },
    release: drop,
  };
}

contentContract('PostgreSQL', place);

const options = { clock: { now: () => 0 }, keys: [], maxBytes: 1_000_000 };
const owner = { tenantId: 't', runId: 'r' };

describe('the tables of content', () => {
  it('are made once by processes that start together, and leave no parts behind', async () => {
    const { open, run, release } = await place();
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(options)));
    const put = await Promise.all(
      stores.map((store) => store.put(owner, 'text/plain', Buffer.alloc(600_000, 'x'), null)),
    );
    expect(new Set(put.map(({ hash }) => hash)).size).toBe(1);
    expect(
      await run('select count(*)::int as parts, count(distinct body)::int as bodies from sluice_content_parts'),
    ).toEqual([{ parts: 3, bodies: 1 }]);
    await stores[0]?.remove(owner);
    expect(await run('select body from sluice_content_parts')).toEqual([]);
    await Promise.all(stores.map((store) => store.close()));
    await release();
  });

  it('lose a connection in the middle of a write without an end of the process', async () => {
    const { url, open, run, release } = await place();
    const store = await open(options);
    const other = new pg.Client(url);
    await other.connect();
    await other.query('begin');
    await other.query('lock table sluice_content in exclusive mode');
    const lost = store.put(owner, 'text/plain', Buffer.alloc(900_000), null);
    const written = expect(lost).rejects.toMatchObject({ code: 'content_unreachable' });
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    while ((await run(end)).length === 0) await delay(20);
    await written;
    await other.end();
    await store.put(owner, 'text/plain', Buffer.from('after'), null);
    expect(await run('select count(distinct body)::int as bodies from sluice_content_parts')).toEqual([{ bodies: 1 }]);
    await store.close();
    await release();
  });

  it('are not held by writers whose sources are slow', async () => {
    const { open, release } = await place();
    const store = await open({ ...options, maxBytes: 5_000_000 });
    let goOn = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (goOn = resolve));
    async function* slow(n: number): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(1_200_000, n);
      await waiting;
      yield Buffer.from('end');
    }
    const slowly = Array.from({ length: 8 }, (_, n) => store.put(owner, 'text/plain', slow(n), null));
    await delay(200);
    const { hash } = await store.put(owner, 'text/plain', Buffer.from('quick'), null);
    goOn();
    expect((await Promise.all(slowly)).map(({ size }) => size)).toEqual(Array.from({ length: 8 }, () => 1_200_003));
    expect(await store.open(owner, hash)).toMatchObject({ size: 5 });
    await store.close();
    await release();
  });

  it('of a newer version are refused', async () => {
    const { open, run, release } = await place();
    await (await open(options)).close();
    await run('insert into sluice_content_migrations (version) values (99)');
    await expect(open(options)).rejects.toThrow(/made by a newer version/);
    await release();
  });

  it('may be in a schema whose name needs quotes', async () => {
    const { open, release } = await place();
    const store = await open({ ...options, schema: `it's "odd"` });
    await store.put(owner, 'text/plain', Buffer.from('x'), null);
    await store.check();
    expect(await store.list(owner)).toHaveLength(1);
    await store.close();
    await release();
  });

  it('out of reach are said to be so, without the address', async () => {
    const { url, release } = await place();
    const wrong = new URL(url);
    wrong.port = '1';
    const opening = openPostgresContent({ url: wrong.href, instance: 'test', ...options });
    await expect(opening).rejects.toMatchObject({
      code: 'content_unreachable',
      message: 'The database of content refuses connections. Start it, or correct its address.',
    });
    await release();
  });
});
