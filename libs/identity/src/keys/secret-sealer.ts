import { createHash } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

interface SecretKey {
  readonly kid: string;
  readonly bytes: Uint8Array;
}

const keyBytes = 32;

/** Seals texts that are kept in a database (JWE, `dir` with A256GCM). The first key seals, all of them open. */
export class SecretSealer {
  private constructor(private readonly keys: readonly [SecretKey, ...SecretKey[]]) {}

  /**
   * Keys as text: one a line, 32 bytes each, in base64 or hexadecimal. Throws an Error that says what is wrong, and
   * repeats no key.
   */
  static of(text: string): SecretSealer {
    const lines = text.split('\n').map((line) => line.trim());
    const [first, ...others] = lines.filter((line) => line !== '').map(keyOf);
    if (first === undefined) throw new Error(wanted);
    return new SecretSealer([first, ...others]);
  }

  /** `about` says which text it is: in another’s place it does not open. */
  async seal(text: string, about: string): Promise<string> {
    const [{ kid, bytes }] = this.keys;
    return new CompactEncrypt(new TextEncoder().encode(text))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid, about: nameOf(about) })
      .encrypt(bytes);
  }

  /** Null where no key of these sealed it, it was changed, or is about something else. */
  async open(sealed: string, about: string): Promise<string | null> {
    for (const { bytes } of this.keys) {
      try {
        const { plaintext, protectedHeader } = await compactDecrypt(sealed, bytes, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        });
        return protectedHeader['about'] === nameOf(about) ? new TextDecoder().decode(plaintext) : null;
      } catch {
        // Another key may have sealed it.
      }
    }
    return null;
  }
}

const wanted =
  'SLUICE_SECRETS_KEY must be keys of 32 bytes, one a line, in base64 or hexadecimal. Make one with `openssl rand -base64 32`.';

function keyOf(line: string): SecretKey {
  const bytes = /^[0-9a-f]{64}$/i.test(line) ? Buffer.from(line, 'hex') : Buffer.from(line, 'base64');
  if (bytes.length !== keyBytes) throw new Error(wanted);
  return { kid: createHash('sha256').update('sluice secrets key').update(bytes).digest('hex').slice(0, 8), bytes };
}

function nameOf(about: string): string {
  return createHash('sha256').update(about).digest('base64url').slice(0, 22);
}
