import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiKeys, createAuthenticator } from '@sluice/identity';
import { openSqliteLedger } from '@sluice/ledger';

const folder = mkdtempSync(join(tmpdir(), 'sluice-api-keys-'));
const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
afterAll(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true });
});

const now = Date.parse('2026-01-01T00:00Z');
const day = 24 * 3_600_000;
const scope = {
  ...{ name: 'billing', tenant: 'acme', groups: ['read-only'], connections: [] },
  expiresAt: now + 90 * day,
};

describe('an API key', () => {
  let keys: ApiKeys;
  beforeEach(() => void (keys = new ApiKeys(ledger.documents)));

  const verify = (token: string, at = now + day, provider: 'api-keys' | 'none' = 'api-keys') =>
    createAuthenticator({ documents: ledger.documents }).authenticate({ provider }, `Bearer ${token}`, at);

  it('names its caller, tenant and groups, and is stored as a hash', async () => {
    const { key, token } = await keys.create(scope, now);
    expect(token).toMatch(/^sluice_[0-9a-f]{12}_[\w-]{43}$/);
    expect(await verify(token)).toEqual({
      ok: true,
      principal: {
        actorId: 'service:billing',
        tenantId: 'acme',
        subjectId: null,
        groups: ['read-only'],
        connections: [],
      },
      expiresAt: scope.expiresAt,
    });
    const stored = (await ledger.documents.find(`api-key/${key.id}`))?.text ?? '';
    expect(stored).toContain('"hash"');
    // The secret is Base64URL, which may have the character that parts a token.
    expect(stored).not.toContain(token.split('_').slice(2).join('_'));
    expect(JSON.stringify(await keys.list())).not.toMatch(/hash/);
  });

  it('that is not there, altered, or no API key at all is refused, and nothing of it is repeated', async () => {
    const { token } = await keys.create(scope, now);
    const last = token.endsWith('A') ? 'B' : 'A';
    for (const wrong of [
      token.slice(0, -1) + last,
      token.slice(0, -1),
      `sluice_${'0'.repeat(12)}_${'x'.repeat(43)}`,
      'sluice_',
    ]) {
      const verdict = await verify(wrong);
      expect(verdict).toEqual({ ok: false, message: 'The credential is refused: there is no such API key.' });
    }
    expect(await verify('hunter2')).toEqual({ ok: false, message: 'The credential is refused: it is not an API key.' });
    // Without an identity nothing is looked at.
    expect(await verify('sluice_', now, 'none')).toMatchObject({ ok: true });
  });

  it('ends when it expires, by when the log took the request, and at once when it is revoked', async () => {
    const { key, token } = await keys.create(scope, now);
    expect(await verify(token, scope.expiresAt - 1)).toMatchObject({ ok: true });
    expect(await verify(token, scope.expiresAt)).toMatchObject({
      ok: false,
      message: expect.stringContaining('expired'),
    });
    expect(await keys.revoke(key.id, now + day)).toBe(true);
    expect(await keys.revoke(key.id, now + 2 * day)).toBe(false);
    expect(await verify(token, now)).toMatchObject({ ok: false, message: expect.stringContaining('was revoked') });
    await expect(keys.revoke('nothing', now)).rejects.toThrow('There is no API key nothing.');
  });

  it('is replaced by another with the same rights, and both hold for the overlap', async () => {
    const first = await keys.create(scope, now);
    const second = await keys.rotate(first.key.id, day, now + 10 * day);
    expect(second.key).toMatchObject({
      name: 'billing',
      tenant: 'acme',
      replaces: first.key.id,
      expiresAt: now + 100 * day,
    });
    for (const { token } of [first, second]) expect(await verify(token, now + 10.5 * day)).toMatchObject({ ok: true });
    expect(await verify(first.token, now + 11 * day)).toMatchObject({ ok: false });
    expect(await verify(second.token, now + 11 * day)).toMatchObject({ ok: true });
    await keys.revoke(second.key.id, now);
    await expect(keys.rotate(second.key.id, day, now)).rejects.toThrow('was revoked');
  });

  it('is listed, also where many are made at once, with when it was last used', async () => {
    const before = (await keys.list()).length;
    const made = await Promise.all([1, 2, 3, 4, 5].map(() => new ApiKeys(ledger.documents).create(scope, now)));
    const listed = await keys.list();
    expect(listed).toHaveLength(before + 5);
    const [first] = made;
    const used = async () => (await keys.list()).find(({ id }) => id === first?.key.id)?.lastUsedAt;
    expect(await used()).toBeNull();
    await keys.verify(first?.token ?? '', now + day);
    await keys.verify(first?.token ?? '', now + day + 1);
    // It is written beside the request, which does not wait for it.
    while ((await used()) === null) await new Promise(setImmediate);
    expect(await used()).toBe(now + day);
  });
});
