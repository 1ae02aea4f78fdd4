import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { ApiKeys, createAuthenticator } from '@sluice/identity';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { onDatabase } from '../../libs/ledger/test/postgres-database.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-users-table-'));
afterAll(() => rmSync(folder, { recursive: true }));

const claims = { actor: 'sub', tenant: 'tenant', subject: null, groups: 'tool_groups', connections: null };

it('permissions come from a table of users in PostgreSQL, and a change holds at once (G-88, G-93)', async () => {
  const honest = await newIssuer();
  const keyFile = join(folder, 'issuer.json');
  writeFileSync(keyFile, JSON.stringify(honest.jwks));
  await onDatabase(async ({ url, query }) => {
    await query('create table memberships (tenant text, login text, role text)');
    await query(
      `create view permissions as select tenant, 'user:' || login as actor, array_agg(role order by role) as groups
       from memberships group by tenant, login`,
    );
    await query(`insert into memberships values ('acme', 'alice', 'reader'), ('globex', 'alice', 'admin')`);
    const authenticator = createAuthenticator({ databaseUrl: url });
    const ask = async (tenant: string, table = 'public.permissions') => {
      const permissions = {
        source: { kind: 'table' as const, table },
        roles: { reader: ['read-only'], editor: ['write'] },
      };
      const settings = { provider: 'jwt' as const, jwksUrl: null, keyFile, issuer, audience, claims, permissions };
      const token = await honest.token({ tenant, tool_groups: ['*'] });
      const sent = await authenticator.authenticate(settings, `Bearer ${token}`, Date.now());
      return sent.ok ? sent.principal.groups : sent.message;
    };
    expect(await ask('acme')).toEqual(['read-only']);
    expect(await ask('globex')).toEqual([]);
    expect(await ask('other')).toEqual([]);
    await query(`insert into memberships values ('acme', 'alice', 'editor')`);
    expect(await ask('acme')).toEqual(['write', 'read-only']);
    await expect(ask('acme', 'nothing')).rejects.toMatchObject({ code: 'identity_unreachable', retryable: true });
    await query('create table twice as select * from permissions union all select * from permissions');
    await expect(ask('acme', 'twice')).rejects.toThrow('2 rows for one caller');
  });
});

it('API keys are in the ledger’s PostgreSQL, for every process at once', async () => {
  await onDatabase(async ({ open }) => {
    const [one, other] = [new ApiKeys((await open()).documents), new ApiKeys((await open()).documents)];
    const now = Date.now();
    const scope = { name: 'billing', tenant: 'acme', groups: ['read-only'], connections: [], expiresAt: now + 60_000 };
    const { key, token } = await one.create(scope, now);
    expect(await other.verify(token, now)).toMatchObject({ ok: true, principal: { actorId: 'service:billing' } });
    await one.revoke(key.id, now);
    expect(await other.verify(token, now)).toMatchObject({ ok: false });
    expect(await other.list()).toMatchObject([{ id: key.id, revokedAt: now }]);
  });
});
