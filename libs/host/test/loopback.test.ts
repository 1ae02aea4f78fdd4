import { describe, expect, it } from '@jest/globals';
import { isLoopback, peerOf } from '@sluice/host';

const [plain, published] = [{ publishedOnLoopback: false }, { publishedOnLoopback: true }];

describe('where a connection comes from', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('%s is this machine', (remoteAddress) => {
    expect(isLoopback(peerOf({ remoteAddress }, plain))).toBe(true);
  });

  it.each(['172.18.0.1', '::ffff:10.0.0.7', 'fe80::1', '127.0.0.1.evil.example', '', undefined])(
    '%s is another machine, unless ports are published on this one alone',
    (remoteAddress) => {
      expect(isLoopback(peerOf({ remoteAddress } as { remoteAddress: string }, plain))).toBe(false);
      expect(isLoopback(peerOf({ remoteAddress } as { remoteAddress: string }, published))).toBe(true);
    },
  );
});
