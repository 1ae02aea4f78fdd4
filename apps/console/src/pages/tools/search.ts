import { texts } from '../../data/search.js';

/** What the address of the list may hold: what is searched for, and what the tools must be. */
export type ToolsSearch = ReturnType<typeof toolsSearch>;

export const toolsSearch = (search: Readonly<Record<string, unknown>>) =>
  texts(search, ['q', 'group', 'effect', 'source']);
