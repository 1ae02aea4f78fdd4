import { expect, it } from '@jest/globals';
import { neverSent } from '../src/reachability.js';

const failed = (cause: object): Error => new TypeError('the request failed', { cause });

it.each([
  ['nobody listens', { code: 'ECONNREFUSED', syscall: 'connect' }, true],
  ['there is no way to the host', { code: 'EHOSTUNREACH', syscall: 'connect' }, true],
  ['the name is unknown', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }, true],
  ['none of several addresses answers', { code: 'ECONNREFUSED', errors: [] }, true],
  ['the connection could not be made in time', { code: 'UND_ERR_CONNECT_TIMEOUT' }, true],
  ['the host is gone while its answer is waited for', { code: 'EHOSTUNREACH', syscall: 'read' }, false],
  ['the network is gone while more is sent', { code: 'ENETUNREACH', syscall: 'write' }, false],
  ['the connection broke', { code: 'ECONNRESET', syscall: 'read' }, false],
])('a request that failed since %s', (_, cause, expected) => {
  expect(neverSent(failed(cause))).toBe(expected);
});

it('a failure without a cause may have been sent', () => {
  expect(neverSent(new Error('?'))).toBe(false);
});
