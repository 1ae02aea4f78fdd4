import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Authentication } from '@sluice/core';
import { createAuthenticator } from '@sluice/identity';
import { forgeries } from './forgeries.js';
import { audience, issuer, newIssuer } from './issuer.js';
import type { Issuer } from './issuer.js';

const claims = { actor: 'sub', tenant: 'tenant', subject: null, groups: 'tool_groups', connections: null };

describe('a credential that is forged, or made to be mistaken', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-forged-'));
  const files = { set: join(folder, 'keys.json'), pem: join(folder, 'key.pem') };
  let honest: Issuer;
  const authenticator = createAuthenticator();
  const judge = (token: string, keyFile: string): Promise<Authentication> => {
    const settings = { provider: 'jwt', jwksUrl: null, keyFile, issuer, audience, claims } as const;
    return authenticator.authenticate(settings, `Bearer ${token}`, Date.now());
  };
  beforeAll(async () => {
    honest = await newIssuer();
    writeFileSync(files.set, JSON.stringify(honest.jwks));
    writeFileSync(files.pem, honest.pem);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is distinguished from an honest one', async () => {
    for (const file of [files.set, files.pem])
      expect(await judge(await honest.token(), file)).toMatchObject({ ok: true });
  });

  it.each(forgeries)('with %s is refused, and nothing of it is repeated', async (trick, forge) => {
    const token = await forge(honest);
    // One key in a file has no id, so that of a credential says nothing.
    const where = trick === 'a key id of nobody' ? [files.set] : [files.set, files.pem];
    for (const file of where) {
      const verdict = await judge(token, file);
      expect(verdict).toEqual({ ok: false, message: expect.any(String) });
      for (const part of token.split('.').filter(({ length }) => length > 8))
        expect(JSON.stringify(verdict)).not.toContain(part);
    }
  });
});
