import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { guardHost, hostProblem, readEnvironment } from '@sluice/host';

const names = { allowedHosts: ['sluice.example'] };

/** A server that listens there, as far as the guard asks it. */
const listeningOn = (address: string) =>
  ({ address: () => ({ address, family: '', port: 8091 }) }) as unknown as Server;

describe('the host that a request names', () => {
  it.each([
    'localhost',
    'localhost:8091',
    'LOCALHOST.',
    '127.0.0.1:8091',
    '127.1.2.3',
    '[::1]:8091',
    'sluice.example:80',
  ])('%s is this machine, or configured', (host) => expect(hostProblem(host, names)).toBeNull());

  it.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'a.sluice.example',
    '10.0.0.7:8091',
    'localhost@evil.example',
    'localhost/evil',
    '',
    undefined,
  ])('%s is another machine', (host) => expect(hostProblem(host, names)).toContain('SLUICE_ALLOWED_HOSTS'));

  it('counts where a server listens on loopback alone: containers are asked by their addresses', () => {
    const asked = { headers: { host: '10.42.0.7:8090' } };
    for (const address of ['127.0.0.1', '::1']) expect(guardHost(listeningOn(address), names)(asked)).not.toBeNull();
    for (const address of ['0.0.0.0', '::', '10.42.0.7'])
      expect(guardHost(listeningOn(address), names)(asked)).toBeNull();
    expect(guardHost(createServer(), names)(asked)).toBeNull();
  });

  it('is read in HTTP/2, too, and where the configuration names a further one', () => {
    const guard = guardHost(listeningOn('127.0.0.1'), names, () => ['mcp.example']);
    expect(guard({ headers: { ':authority': 'mcp.example' } })).toBeNull();
    expect(guard({ headers: { ':authority': 'evil.example' } })).not.toBeNull();
  });
});

describe('SLUICE_ALLOWED_HOSTS', () => {
  it('has names with commas between', () => {
    const { allowedHosts } = readEnvironment({ SLUICE_ALLOWED_HOSTS: 'Sluice.Example, host.docker.internal' });
    expect(allowedHosts).toEqual(['sluice.example', 'host.docker.internal']);
  });

  it.each(['*', 'http://sluice.example', 'sluice.example:8091', 'a b'])('is refused as %s', (text) => {
    expect(() => readEnvironment({ SLUICE_ALLOWED_HOSTS: text })).toThrow(/SLUICE_ALLOWED_HOSTS has “.*without a port/);
  });
});
