import { audit } from '../check/audit.ts';
import type { Found, Spoiled } from '../check/observed.ts';

/**
 * Has an auditor run `audit verify` and `replay`; returns each broken promise that they show. `command` returns what
 * a command wrote.
 */
export async function audited(
  command: (args: readonly string[]) => Promise<string>,
  found: readonly Found[],
  spoiled: readonly Spoiled[],
): Promise<readonly string[]> {
  try {
    const [verified, replayed] = await Promise.all([
      command(['audit', 'verify', '--json']),
      command(['replay', '--json']),
    ]);
    return audit({ verified, replayed, found, spoiled });
  } catch (error) {
    return [`The auditor could not do it: ${(error as Error).message}`];
  }
}
