import { topics } from '@sluice/contracts';
import type { Codec } from '@sluice/contracts';
import type { Dead } from '../port.js';
import { trustedTimeOf } from '../trusted-time.js';
import { withoutCredentials } from './credential.js';
import { noLimits } from './limits.js';
import type { Limits } from './limits.js';
import { encode, wholeSizeOf } from './outputs.js';
import type { Encoded } from './outputs.js';
import type { Death } from './retry.js';
import type { Opened } from './stored.js';

/** Longest reason a dead letter carries, in UTF-16 units: an exception's text may hold a whole payload. */
const maxReason = 4_000;

export function deadOf(opened: Opened, { code, reason, lastFault }: Death, attempts: number): Dead {
  const { stored, message } = opened;
  return {
    ...stored,
    headers: withoutCredentials(stored.headers),
    message,
    code,
    reason: reason.slice(0, maxReason),
    lastFault,
    attempts,
  };
}

/**
 * The record for agent.dead-letters: the original bytes and headers, without credentials; without both where the
 * topic does not take as much.
 */
export function deadLetter(
  codec: Codec,
  dead: Dead,
  group: string,
  failedAt: number,
  limits: Limits = noLimits,
): Encoded {
  const letter = letterOf(codec, dead, group, failedAt);
  const limit = limits.of(topics.deadLetters);
  if (wholeSizeOf(letter) <= limit) return letter;
  const without = `${dead.reason} Its ${dead.value.byteLength} bytes are left out, since ${topics.deadLetters} takes no more than ${limit} at once.`;
  const reason = without.slice(-maxReason);
  return letterOf(codec, { ...dead, value: Buffer.alloc(0), headers: {}, reason }, group, failedAt);
}

function letterOf(codec: Codec, dead: Dead, group: string, failedAt: number): Encoded {
  const { topic, partition, offset, key, headers, code, reason, lastFault, attempts } = dead;
  const value = Buffer.from(dead.value);
  const from = { topic, partition, offset, group, key, value, headers, timestamp: trustedTimeOf(dead) };
  return encode(codec, topics.deadLetters, key, { ...from, code, reason, attempts, failedAt, lastFault });
}
