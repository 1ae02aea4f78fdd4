import { type Finish } from '../../types.js';

export const words: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filtered: 'content_filtered',
  error: 'malformed_model_output',
  paused: 'other',
  other: 'other',
};
