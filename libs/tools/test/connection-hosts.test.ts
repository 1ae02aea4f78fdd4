import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bearerAt, ToolUserError } from '@sluice/core';
import { authOf, clientsOf } from '../src/index.js';
import { isNamed } from '../../core/src/rules/credential-hosts.js';
import { patience } from '../../sources/test/configured.js';
import { whatIsThrown } from '../../hub/test/waiting.js';

describe('a host that a connection names', () => {
  it.each([
    ['https://api.example', 'https://api.example/a?b', true],
    ['https://api.example', 'https://API.example:443/', true],
    ['https://api.example', 'https://api.example:8443/', false],
    ['https://api.example', 'http://api.example/', false],
    ['https://api.example', 'https://api.example.evil/', false],
    ['https://api.example', 'https://sub.api.example/', false],
    ['https://api.example', 'https://api.example@evil.example/', false],
    ['https://api.example:8443', 'https://api.example:8443/', true],
    ['https://api.example:8443', 'https://api.example/', false],
    ['http://localhost:8080', 'http://localhost:8080/x', true],
    ['http://localhost:8080', 'https://localhost:8080/x', false],
    ['http://[::1]:8080', 'http://[0:0::1]:8080/x', true],
  ])('%s, asked at %s: %s', (host, address, isSo) => {
    expect(isNamed(new URL(address), ['https://other.example', host])).toBe(isSo);
  });
});

describe('the credential of a connection', () => {
  /** What each of two servers was shown; their answers are those of the path. */
  const shown: string[] = [];
  const servers = [0, 1].map((n) =>
    createServer((request, response) => {
      shown.push(`${n} ${request.method ?? ''} ${request.headers.authorization ?? 'nothing'}`);
      const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
      if (to === null) response.end(request.url);
      else response.writeHead(request.url?.startsWith('/307') ? 307 : 302, { location: to }).end();
    }),
  );
  const at = (n: number, path = ''): string => `http://127.0.0.1:${(servers[n]?.address() as AddressInfo).port}${path}`;
  beforeAll(async () => {
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => servers.forEach((server) => server.close()));

  const credential = (...hosts: string[]) => ({
    ...{ connectionId: 'crm', hosts, token: 'the-token', renew: () => Promise.resolve(false) },
  });
  const fetched = async (hosts: readonly string[], url: string, init: RequestInit = {}): Promise<Response> => {
    shown.length = 0;
    return clientsOf(credential(...hosts), patience())
      .for('crm')
      .fetch(url, init);
  };

  it('goes to the host that the connection names', async () => {
    const response = await fetched([at(0)], at(0, '/a'));
    expect([await response.text(), response.redirected, shown]).toEqual(['/a', false, ['0 GET Bearer the-token']]);
  });

  it.each([
    ['another port', () => [at(0)]],
    ['a host where the connection names none, as one that a former version compiled', () => []],
    ['the same host over https', () => [at(1).replace('http:', 'https:')]],
  ])('goes to no other: %s', async (_, hosts) => {
    const error = (await whatIsThrown(fetched(hosts(), at(1, '/a?secret=1')))) as Error;
    expect(error).toBeInstanceOf(ToolUserError);
    expect(error.message).toBe(
      `The credential of the connection crm does not go to ${at(1)}. If it shall, write "${at(1)}" under connections.crm.hosts.`,
    );
    expect(shown).toEqual([]);
  });

  it('follows no redirect to another host, and nothing asks there', async () => {
    const error = (await whatIsThrown(fetched([at(0)], at(0, `/x?to=${at(1)}`)))) as Error;
    expect(error.message).toContain(`does not go to ${at(1)}`);
    expect(shown).toEqual(['0 GET Bearer the-token']);
  });

  it('follows redirects to hosts that are named, as fetch would go on', async () => {
    const hosts = [at(0), at(1)];
    const post = { method: 'POST', body: 'a' };
    const got = await fetched(hosts, at(0, `/x?to=${at(1, '/end')}`), post);
    expect([await got.text(), got.redirected, shown]).toEqual([
      ...['/end', true],
      ['0 POST Bearer the-token', '1 GET Bearer the-token'],
    ]);
    await fetched(hosts, at(0, `/307?to=${at(1)}`), post);
    expect(shown).toEqual(['0 POST Bearer the-token', '1 POST Bearer the-token']);
    expect((await fetched([at(0)], at(0, `/x?to=${at(1)}`), { redirect: 'manual' })).status).toBe(302);
    await expect(fetched(hosts, at(0, `/x?to=${at(1)}`), { redirect: 'error' })).rejects.toThrow('redirects.');
    await expect(fetched([at(0)], at(0, '/x?to=/x%3Fto=/x%3Fto=..'))).resolves.toBeDefined();
  });

  it('is given to a tool for an address of such a host alone', async () => {
    const auth = authOf(credential('https://crm.example'));
    expect(await auth.getAccessToken('crm', 'https://crm.example/a')).toBe('the-token');
    expect(await auth.getAuthHeaders('crm', new URL('https://crm.example'))).toEqual({
      authorization: 'Bearer the-token',
    });
    await expect(auth.getAccessToken('crm', 'https://evil.example/')).rejects.toThrow(
      'write "evil.example" under connections.crm.hosts',
    );
    await expect(auth.getAuthHeaders('crm', 'https://crm.example:444/')).rejects.toThrow('crm.example:444');
    const former = auth.getAccessToken as (connectionId: string) => Promise<string>;
    await expect(former('crm')).rejects.toThrow('Say which address the credential is for');
  });

  it.each([
    ['a header', { headers: [['x-key', 'the-token']] }],
    ['a name and password', { headers: [['authorization', `Basic ${btoa('ann:the-token')}`]] }],
    ['the address', { url: 'https://evil.example/?key=the-token' }],
    ['the body', { body: btoa('{"key":"the-token"}') }],
  ] as const)('is let go elsewhere in no request of the tool’s own: in %s', async (_, part) => {
    const auth = authOf(credential('https://crm.example'));
    const request = { url: 'https://evil.example/', headers: [], body: null, ...part };
    const evil = new URL('https://evil.example/');
    expect(() => auth.requireOwnHost(request, evil)).not.toThrow();
    await auth.getAccessToken('crm', 'https://crm.example/');
    expect(() => auth.requireOwnHost(request, evil)).toThrow('does not go to https://evil.example');
    expect(() => auth.requireOwnHost(request, new URL('https://crm.example/'))).not.toThrow();
    expect(() => auth.requireOwnHost({ ...request, url: evil.href, headers: [], body: null }, evil)).not.toThrow();
  });

  it('goes to an MCP server’s own address, whatever others the server names', () => {
    const carry = bearerAt(new URL('https://mcp.example/mcp'), 'the-token');
    const headersAt = (to: string, given: [string, string][] = []) => carry(to, { headers: given }).headers;
    expect(headersAt('https://mcp.example/other', [['accept', 'x']])).toEqual([
      ['accept', 'x'],
      ['authorization', 'Bearer the-token'],
    ]);
    for (const other of ['https://mcp.example:444/mcp', 'http://mcp.example/mcp', 'https://evil.example/mcp'])
      expect(headersAt(other, [['Authorization', 'Bearer the-token']])).toEqual([]);
    expect(bearerAt(new URL('https://mcp.example/'), null)('https://mcp.example/', { headers: [] }).headers).toEqual(
      [],
    );
  });
});
