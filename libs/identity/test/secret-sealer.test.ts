import { describe, expect, it } from '@jest/globals';
import { SecretSealer } from '@sluice/identity';

const [one, other] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('hex')];

describe('a sealed text', () => {
  it('opens with the key that sealed it, also where another one seals now', async () => {
    const sealed = await SecretSealer.of(one).seal('thought “Ω” \0', 'a');
    expect(sealed).not.toContain('thought');
    expect(await SecretSealer.of(`${other}\n${one}\n`).open(sealed, 'a')).toBe('thought “Ω” \0');
    expect(await SecretSealer.of(other).open(sealed, 'a')).toBeNull();
  });

  it('opens in its own place alone, and only as it was written', async () => {
    const sealer = SecretSealer.of(other);
    const sealed = await sealer.seal('thought', 'a');
    expect(await sealer.open(sealed, 'b')).toBeNull();
    expect(await sealer.open(`${sealed.slice(0, -2)}AA`, 'a')).toBeNull();
    expect(await sealer.open('{"rounds":[]}', 'a')).toBeNull();
  });

  it.each(['', '\n', 'secret-word', `${one}\nsecret-word`, Buffer.alloc(16).toString('base64')])(
    'takes no key that is none, and does not repeat it: %j',
    (text) => {
      const made = (): SecretSealer => SecretSealer.of(text);
      expect(made).toThrow('openssl rand -base64 32');
      expect(made).not.toThrow('secret-word');
    },
  );
});
