import { texts } from '../../data/search.js';

/** What of the address’s search the page asks the gateway by. */
const filterNames = [
  ...([
    'text',
    'user',
    'agent',
    'tool',
    'outcome',
    'state',
    'group',
    'session',
    'parent',
    'tenant',
    'since',
    'until',
  ] as const),
] as const;

export type RunFilters = { readonly [Name in (typeof filterNames)[number]]?: string };

/** What this page’s address may hold. */
export const runsSearch = (search: Readonly<Record<string, unknown>>): RunFilters => texts(search, filterNames);
