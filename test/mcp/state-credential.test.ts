import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { newClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const query = { name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } };
const atFirst = ['knowledge-query', 'text-completion'];

interface Credential {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
}

describe('the state of a caller in the era without sessions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mcp-state-'));
  let system: McpSystem;
  let ann: string;
  let bob: string;
  beforeAll(async () => {
    const users = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    ann = await users.token({ sub: 'ann', tenant: 'acme', tool_groups: ['*'] });
    bob = await users.token({ sub: 'bob', tenant: 'acme', tool_groups: ['*'] });
    const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }\n`;
    system = await startMcpSystem(identity + workflowConfiguration());
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true });
  });

  const ask = async (path: string, form: Readonly<Record<string, string>>) => {
    const url = new URL(path, system.mcp.url);
    const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const exchanged = (subject: string, more: Readonly<Record<string, string>> = {}) =>
    ask('/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: subject,
      ...more,
    });
  const credentialOf = async (subject: string): Promise<string> => {
    const { status, body } = await exchanged(subject);
    expect([status, body['token_type'], body['expires_in']]).toEqual([200, 'Bearer', 900]);
    return body['access_token'] as string;
  };
  const names = async (token: string): Promise<readonly string[]> => {
    const client = await newClient(system.mcp.url, token);
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  };

  it('is in a credential, which a transition mints again and so ends the one before', async () => {
    const first = await credentialOf(ann);
    expect(await names(first)).toEqual(atFirst);
    const client = await newClient(system.mcp.url, first);
    const { _meta } = await client.callTool(query);
    await client.close();
    const { access_token: second, expires_in } = _meta?.['sluice/credential'] as Credential;
    expect(expires_in).toBe(900);
    expect(await names(second)).toContain('graph-update');
    await expect(names(first)).rejects.toThrow();
    // A client that lost the answer exchanges the replaced credential; the identity’s token alone begins a new session.
    const third = await credentialOf(first);
    expect(await names(third)).toContain('graph-update');
    await expect(names(second)).rejects.toThrow();
    expect(await names(ann)).toEqual(atFirst);
  });

  it('ends when it is revoked, for every copy of it', async () => {
    const mine = await credentialOf(ann);
    expect((await ask('/oauth/revoke', { token: mine })).status).toBe(200);
    await expect(names(mine)).rejects.toThrow();
    expect(await exchanged(mine)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('is not transferable: a credential holds with its own identity alone', async () => {
    const mine = await credentialOf(ann);
    const [head = ''] = mine.split(`.${ann}`);
    await expect(names(`${head}.${bob}`)).rejects.toThrow();
    await expect(names(head)).rejects.toThrow();
    const changed = head.slice(0, -1) + (head.endsWith('A') ? 'B' : 'A');
    await expect(names(`${changed}.${ann}`)).rejects.toThrow();
    expect(await exchanged(`${head}.${bob}`)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await names(mine)).toEqual(atFirst);
  });

  it.each([
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['another kind of token', { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }, 'invalid_request'],
    ['a forged token', { subject_token: 'e30.e30.e30' }, 'invalid_grant'],
    ['no token', { subject_token: '' }, 'invalid_grant'],
  ])('is not given for %s', async (_name, form, error) => {
    expect(await exchanged(ann, form)).toMatchObject({ status: 400, body: { error } });
  });
});
