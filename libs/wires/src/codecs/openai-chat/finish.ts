import { type Finish } from '../../types.js';

export const words: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  calls: 'tool_calls',
  length: 'length',
  filtered: 'content_filter',
  error: 'error',
  paused: 'length',
  other: 'other',
};
