import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LocalSecret } from '../src/local-secret.js';
import { openLocalSecret, readLocalSecret } from '../src/local-secret-environment.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-secret-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const surroundings = (bus: 'sqlite' | 'kafka', given?: string) => ({ bus, dataFolder: folder, secret: () => given });
const own = (): string => join(folder, 'local-secret');
const long = 'x'.repeat(32);

describe('the local secret', () => {
  it('is made once in the data folder, for its owner alone whatever the umask is', () => {
    const before = process.umask(0);
    try {
      openLocalSecret(surroundings('sqlite'));
    } finally {
      process.umask(before);
    }
    expect(statSync(own()).mode & 0o777).toBe(0o600);
    const made = readLocalSecret(surroundings('sqlite')) ?? '';
    expect(made).toMatch(/^local_[\w-]{43}$/);
    expect(openLocalSecret(surroundings('sqlite')).is(made)).toBe(true);
    expect(readFileSync(own(), 'utf8')).toBe(`${made}\n`);
  });

  it('is the one that is given, where one is', () => {
    expect(openLocalSecret(surroundings('sqlite', long)).isIn(`Bearer ${long}`, 0)).toBe(true);
    expect(() => statSync(own())).toThrow('ENOENT');
    expect(readLocalSecret(surroundings('kafka', long))).toBe(long);
  });

  it('is not made on Kafka, so that nothing counts as it', () => {
    const none = openLocalSecret(surroundings('kafka'));
    expect(none.isKnown).toBe(false);
    for (const header of ['Bearer ', 'Bearer null', 'Bearer undefined', undefined])
      expect(none.isIn(header, 0)).toBe(false);
    expect(readLocalSecret(surroundings('kafka'))).toBeUndefined();
  });

  it.each([['short'], [`${long} ${long}`], ['é'.repeat(40)], ['x'.repeat(513)]])('is refused as %j', (given) => {
    expect(() => openLocalSecret(surroundings('kafka', given))).toThrow(/^SLUICE_LOCAL_SECRET must hold 32 to 512/);
    writeFileSync(own(), given);
    expect(() => openLocalSecret(surroundings('sqlite'))).toThrow(`The file ${own()} must hold`);
  });

  it('is known by a bearer token alone, whole', () => {
    const secret = new LocalSecret(long);
    expect(secret.isIn(`bearer  ${long}`, 0)).toBe(true);
    for (const header of [long, `Basic ${long}`, `Bearer ${long}x`, `Bearer ${long.slice(1)}`, `Bearer ${long} x`, ''])
      expect([header, secret.isIn(header, 0)]).toEqual([header, false]);
  });

  it('makes tickets that hold for a time, for what they are made for, and by no other secret', () => {
    const secret = new LocalSecret(long);
    const content = { expiresAt: 1_000, id: 'one' };
    const ticket = secret.issue('console', content);
    expect(secret.read('console', ticket, 999)).toEqual(content);
    expect(secret.isIn(`Bearer ${ticket}`, 999)).toBe(true);
    expect([secret.expiryIn(`Bearer ${ticket}`, 999), secret.expiryIn(`Bearer ${long}`, 999)]).toEqual([1_000, null]);
    expect([secret.read('console', ticket, 1_000), secret.isIn(`Bearer ${ticket}`, 1_000)]).toEqual([null, false]);

    const forged = Buffer.from(JSON.stringify({ ...content, expiresAt: 9_000 })).toString('base64url');
    const [, mac] = ticket.split('.');
    for (const wrong of [
      ...[ticket.slice(0, -1), `${ticket}x`, `console_${forged}.${mac}`, ticket.replace('.', ''), 'console_.', ''],
      ...[`console_${'x'.repeat(2_000)}.x`, secret.issue('sign-in', content), secret.issue('session', content)],
      secret.issue('sign-in', content).replace('sign-in', 'console'),
      new LocalSecret('y'.repeat(32)).issue('console', content),
    ])
      expect([wrong, secret.isIn(`Bearer ${wrong}`, 0)]).toEqual([wrong, false]);
    const none = new LocalSecret(null);
    expect(none.isIn(`Bearer ${none.issue('console', content)}`, 0)).toBe(false);
  });

  it('makes tokens that are good for what they name, and by no other secret', () => {
    const secret = new LocalSecret(long);
    const token = secret.tokenFor(['run', 'session', 7]);
    expect(new LocalSecret(long).isTokenFor(['run', 'session', 7], token)).toBe(true);
    for (const named of [
      ['run', 'session', 8],
      ['run2', 'session', 7],
      ['run', 'sessio', 'n', 7],
      ['run', 'session', '7'],
    ])
      expect([named, secret.isTokenFor(named, token)]).toEqual([named, false]);
    expect(secret.isTokenFor(['run', 'session', 7], long)).toBe(false);
    expect(new LocalSecret(`${long}y`).isTokenFor(['run', 'session', 7], token)).toBe(false);
    expect(new LocalSecret(null).isTokenFor(['run', 'session', 7], token)).toBe(false);
  });
});
