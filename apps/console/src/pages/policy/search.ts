import { texts } from '../../data/search.js';

const tabs = ['matrix', 'caller', 'states', 'findings', 'versions', 'what-if'] as const;

/** What the address may hold: the tab, the caller that is looked at, the versions compared, the span of a what-if. */
export type PolicySearch = ReturnType<typeof policySearch>;

export const policySearch = (search: Readonly<Record<string, unknown>>) => ({
  ...texts(search, ['group', 'state', 'roles', 'user', 'tenant', 'channel', 'at', 'claims', 'question', 'q']),
  ...texts(search, ['version', 'from', 'run', 'since']),
  ...tabOf(search['tab']),
});

function tabOf(name: unknown): { readonly tab?: (typeof tabs)[number] } {
  const tab = tabs.find((each) => each === name);
  return tab === undefined ? {} : { tab };
}
