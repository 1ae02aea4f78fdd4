import type { Finish } from '../../types.js';

export const words: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filtered: 'SAFETY',
  error: 'MALFORMED_RESPONSE',
  paused: 'OTHER',
  other: 'OTHER',
};
