import type { Configuration } from '@sluice/core';
import { allTopics, auditedTopics, runTopics, topicEntry, topics } from './topics.js';
import type { Topic } from './topics.js';
import { roles } from './roles.js';
import type { Role } from './roles.js';

/** What a service may do with the topics: what its access rights must allow, and no more. */
export interface Access {
  readonly reads: readonly Topic[];
  readonly writes: readonly Topic[];
  /** Its consumer group; null for those who read without one. */
  readonly group: string | null;
  /** What it takes by its group, record by record; the rest of what it reads it follows beside. */
  readonly consumes: readonly Topic[];
}

/** All topics that the audit reads, and its own. */
const audited: readonly Topic[] = [...auditedTopics, topics.audit];

/** What subscriptions can be notified of stands in these. */
export const notifiedTopics = [topics.responses, topics.approvals, topics.deadLetters, topics.config] as const;

/**
 * What a role reads and writes because it is for all topics of a kind. What it does with a single one stands in that
 * topic’s row.
 */
const broadly: Partial<Record<Role, { readonly reads?: readonly Topic[]; readonly writes?: readonly Topic[] }>> = {
  audit: { reads: audited },
  auditor: { reads: audited },
  gateway: { reads: runTopics },
  mcp: { reads: runTopics },
  redriver: { reads: runTopics, writes: runTopics },
};

/**
 * By who it is. Filter, agent and executor end the runs of records they cannot process, so they write responses and
 * dead letters.
 */
export const access = Object.fromEntries(
  (Object.keys(roles) as Role[]).map((role): [Role, Access] => {
    const { reads = [], writes = [] } = broadly[role] ?? {};
    const may = (rights: 'readers' | 'writers', broad: readonly Topic[]): readonly Topic[] =>
      allTopics.filter((topic) => broad.includes(topic) || topicEntry(topic)[rights][role] !== undefined);
    const own = allTopics.filter((topic) => topicEntry(topic).handledBy === role);
    // Its own topic is where the audit finds its place again, and configurations are for all.
    const watched: Partial<Record<Role, readonly Topic[]>> = {
      audit: auditedTopics.filter((topic) => topic !== topics.config),
      notifier: notifiedTopics,
    };
    const consumes = watched[role] ?? own;
    const { group } = roles[role];
    return [role, { reads: may('readers', reads), writes: may('writers', writes), group, consumes }];
  }),
) as Readonly<Record<Role, Access>>;

/** The roles whose groups are at work under a configuration: the notifier needs none without subscriptions. */
export function consumersUnder(
  configuration: Pick<Configuration, 'notify'> | undefined,
): readonly (readonly [Role, Access & { readonly group: string }])[] {
  return (Object.entries(access) as [Role, Access][]).flatMap(([role, rights]) => {
    const { group } = rights;
    if (group === null || (role === 'notifier' && configuration?.notify === undefined)) return [];
    return [[role, { ...rights, group }]] as const;
  });
}

/** The consumer group that delivers to a subscription. */
export function groupOfSubscription(subscription: string): string {
  return `${roles.notifier.group}.${subscription}`;
}
