import { topics } from '@sluice/contracts';
import type { Codec } from '@sluice/contracts';
import type { Dead } from '../port.js';
import { withoutCredentials } from './credential.js';
import { encode } from './outputs.js';
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

/** The record for agent.dead-letters: the original bytes and headers, without credentials. */
export function deadLetter(codec: Codec, dead: Dead, group: string, failedAt: number): Encoded {
  const { topic, partition, offset, key, headers, timestamp, code, reason, lastFault, attempts } = dead;
  const value = Buffer.from(dead.value);
  const from = { topic, partition, offset, group, key, value, headers, timestamp };
  return encode(codec, topics.deadLetters, key, { ...from, code, reason, attempts, failedAt, lastFault });
}
