import { type Finish } from '../../types.js';

/** Messages has no word for a turn that failed. */
export const words: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filtered: 'refusal',
  error: 'error',
  paused: 'pause_turn',
  other: 'other',
};
