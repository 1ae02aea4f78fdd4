import { oneOf, text } from '../../data/search.js';

const runTabs = ['timeline', 'tools', 'states', 'budgets', 'content'] as const;

export interface RunSearch {
  readonly tab?: (typeof runTabs)[number] | undefined;
  /** Only what failed is shown. */
  readonly failed?: true | undefined;
  /** The id of the call that is open. */
  readonly call?: string | undefined;
  /** The session, and from when on to look: a run that was just asked for is found by these. */
  readonly session?: string | undefined;
  readonly since?: string | number | undefined;
  /** Whose run it is, for operators. */
  readonly tenant?: string | undefined;
}

/** What this page’s address may hold. */
export const runSearch = (search: Readonly<Record<string, unknown>>): RunSearch => {
  const tab = oneOf(search, 'tab', runTabs);
  return {
    ...(tab === 'timeline' ? {} : { tab }),
    ...(search['failed'] === true ? { failed: true } : {}),
    ...kept(search, 'call'),
    ...kept(search, 'session'),
    ...since(search),
    ...kept(search, 'tenant'),
  };
};

function kept(search: Readonly<Record<string, unknown>>, name: 'call' | 'session' | 'tenant'): RunSearch {
  const value = text(search, name);
  return value === undefined ? {} : { [name]: value };
}

/** As a number, so that it stands in an address without quotes. */
function since(search: Readonly<Record<string, unknown>>): RunSearch {
  const value = text(search, 'since');
  if (value === undefined) return {};
  return { since: /^\d{1,15}$/.test(value) ? Number(value) : value };
}
