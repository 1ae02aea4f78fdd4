import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { createAuthenticator } from '@sluice/identity';
import { openSqliteLedger } from '@sluice/ledger';
import { command } from '../harness/command.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-api-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const run = (words: string) => command(words.split(' '), { SLUICE_DATA: folder });

it('the command line makes, lists, rotates and revokes API keys', async () => {
  const made = await run('keys api new billing --tenant acme --groups read-only,write --expires 30d');
  expect(made.code).toBe(0);
  const token = made.output.trim();
  const [, id = ''] = /^sluice_([0-9a-f]{12})_/.exec(token) ?? [];
  const verdict = async (one: string) => {
    const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
    try {
      const { documents } = ledger;
      return await createAuthenticator({ documents }).authenticate(
        { provider: 'api-keys' },
        `Bearer ${one}`,
        Date.now(),
      );
    } finally {
      await ledger.close();
    }
  };
  expect(await verdict(token)).toMatchObject({
    ok: true,
    principal: { actorId: 'service:billing', tenantId: 'acme', groups: ['read-only', 'write'] },
  });
  const second = (await run(`keys api rotate ${id} --overlap 1h`)).output.trim();
  expect(await verdict(token)).toMatchObject({ ok: true });
  expect(await verdict(second)).toMatchObject({ ok: true });
  expect(await run(`keys api revoke ${id}`)).toMatchObject({ output: `The API key ${id} is accepted no longer.\n` });
  expect(await verdict(token)).toMatchObject({ ok: false });
  const { keys } = JSON.parse((await run('keys api list --json')).output) as { keys: object[] };
  expect(keys).toHaveLength(2);
  expect(keys).toContainEqual(expect.objectContaining({ id, revoked_at: expect.any(String), tenant: 'acme' }));
  expect((await run('keys api list')).output).not.toContain(token.slice(20));

  for (const wrong of [
    'keys api new x --tenant t',
    'keys api rotate',
    'keys api what',
    'keys list --json',
    'keys api revoke none',
  ])
    expect(await run(wrong)).toMatchObject({ code: 1 });
});

it('the command line makes a JWT for trials, with an issuer of its own', async () => {
  const { output: token } = await run('token --tenant acme --groups read-only --user ann');
  const keyFile = join(folder, 'trial-issuer-public.json');
  expect(statSync(join(folder, 'trial-issuer.json')).mode & 0o077).toBe(0);
  expect(readFileSync(keyFile, 'utf8')).not.toContain('"d"');
  const claims = { actor: 'sub', tenant: 'tenant', subject: null, groups: 'tool_groups', connections: null };
  const where = { jwksUrl: null, keyFile, issuer: 'https://trial.invalid', audience: 'sluice', claims };
  const ask = (one: string) =>
    createAuthenticator().authenticate({ provider: 'jwt', ...where }, `Bearer ${one.trim()}`, Date.now());
  expect(await ask(token)).toMatchObject({ ok: true, principal: { actorId: 'user:ann', groups: ['read-only'] } });
  expect(await ask((await run('token --tenant globex --groups *')).output)).toMatchObject({
    principal: { tenantId: 'globex', actorId: 'user:trial', groups: ['*'] },
  });
});
