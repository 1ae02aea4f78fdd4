import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { secretsOf } from '../src/senders/webhook-sender.js';
import { Receiver } from '../src/receiver.js';
import { DeliveryError } from '../src/senders/sender.js';

let answers = 204;
const server = createServer((request, response) => {
  request.resume();
  response.statusCode = answers;
  response.end('nothing of this is read');
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const webhook = { headers: { 'content-type': 'application/cloudevents+json' }, body: '{}' };
const never = new AbortController().signal;

async function sent(url: string, hosts: readonly string[] = []): Promise<number | string> {
  const receiver = new Receiver(hosts);
  try {
    return await receiver.send(url, webhook, never);
  } catch (error) {
    if (error instanceof DeliveryError) return `${error.failure}: ${error.message}`;
    throw error;
  } finally {
    await receiver.close();
  }
}

describe('a receiver', () => {
  it.each([
    ['an address', (at: number) => `http://127.0.0.1:${String(at)}/`],
    ['a name that resolves to one', (at: number) => `http://localhost:${String(at)}/`],
    ['an address of version 6', (at: number) => `http://[::1]:${String(at)}/`],
    ['an address of the cloud', () => 'http://169.254.169.254/latest/meta-data'],
  ])('within a private network is sent nothing unless its host is named: %s', async (_, url) => {
    expect(await sent(url(port))).toMatch(
      /^not_public: .* notify\.private_hosts in the configuration can permit it\.$/,
    );
  });

  it('within a private network is sent what its host is named for', async () => {
    answers = 204;
    expect(await sent(`http://localhost:${String(port)}/`, [`localhost:${String(port)}`])).toBe(204);
    expect(await sent(`http://127.0.0.1:${String(port)}/`, ['127.0.0.1'])).toBe(204);
  });

  it.each([
    [200, 200],
    [301, 'redirect'],
    [404, 'refused'],
    [410, 'gone'],
    [429, 'refused'],
    [500, 'failed'],
  ])('that answers %i has taken it or not: %s', async (status, expected) => {
    answers = status;
    const found = await sent(`http://127.0.0.1:${String(port)}/`, ['127.0.0.1']);
    expect(typeof found === 'number' ? found : found.split(':')[0]).toBe(expected);
  });

  it('that is not there cannot be reached', async () => {
    expect(await sent('http://127.0.0.1:1/', ['127.0.0.1'])).toBe('unreachable: 127.0.0.1:1 cannot be reached.');
  });
});

describe('secrets', () => {
  const good = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const variables: Record<string, string> = { GOOD: good, SHORT: 'whsec_c2hvcnQ=', EMPTY: '', ODD: `${good}!` };
  const secret = (name: string): string | undefined => {
    if (name === 'UNREAD_FILE') throw new Error('UNREAD_FILE names a file that is empty.');
    return variables[name];
  };

  it('are the present one and the former one', () => {
    expect(secretsOf({ secretEnv: 'GOOD' }, secret)).toEqual([good]);
    expect(secretsOf({ secretEnv: 'GOOD', previousSecretEnv: 'GOOD' }, secret)).toHaveLength(2);
  });

  it.each(['SHORT', 'EMPTY', 'UNSET', 'ODD', 'UNREAD_FILE'])(
    'that cannot sign are named by their variable alone: %s',
    (name) => {
      expect(() => secretsOf({ secretEnv: 'GOOD', previousSecretEnv: name }, secret)).toThrow(
        expect.objectContaining({ failure: 'secret', message: expect.stringContaining(name) }),
      );
    },
  );
});
