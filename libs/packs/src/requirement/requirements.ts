import { createHash } from 'node:crypto';
import type { Clock, Documents, ToolInvocationContext } from '@sluice/core';
import { requirementTypes } from '../document/candidates.js';
import type { RequirementType } from '../document/candidates.js';
import { NumberedDocuments } from '../kept/numbered.js';

export { requirementTypes };

export const requirementPriorities = ['high', 'medium', 'low'] as const;

interface NewRequirement {
  readonly text: string;
  readonly name: string;
  readonly type: RequirementType;
  readonly priority: (typeof requirementPriorities)[number];
  readonly gobdRelevant: boolean;
  /** Ids of citations. */
  readonly citations: readonly string[];
  readonly mentions: readonly string[];
}

interface CachedRequirement extends NewRequirement {
  /** Such as Q-0001: its place in the queue, not the id that the graph gives it. */
  readonly id: string;
  /** Who submitted it, as the audit names them. */
  readonly actor: string;
  readonly submittedAt: string;
}

/** What waits for one caller’s tenant: requirements that wait for validation, in the ledger’s database. */
export interface RequirementCache {
  /** The same text again gives the entry that is there; `created` is false then. */
  submit(requirement: NewRequirement): Promise<{ readonly entry: CachedRequirement; readonly created: boolean }>;
  /** In the order in which they came, from the one behind `after` on, from 0. */
  list(after: number, most: number): Promise<readonly CachedRequirement[]>;
}

type Stored = Omit<CachedRequirement, 'id'>;

export function requirementsIn(
  documents: Documents,
  { tenantId, actorId: actor }: Pick<ToolInvocationContext, 'tenantId' | 'actorId'>,
  clock: Clock,
): RequirementCache {
  const kept = new NumberedDocuments<Stored>(
    documents,
    `requirement/${JSON.stringify(tenantId)}`,
    'cache of requirements',
    99_999,
  );
  const entry = (number: number, stored: Stored): CachedRequirement => ({
    id: `Q-${String(number).padStart(4, '0')}`,
    ...stored,
  });
  return {
    submit: async (requirement) => {
      // Two texts that differ in white space and case only are one requirement.
      const same = requirement.text.replace(/\s+/g, ' ').trim().toLowerCase();
      const key = createHash('sha256').update(same).digest('hex');
      const before = await kept.byKey(key);
      if (before !== undefined) return { entry: entry(before.number, before.value), created: false };
      const submittedAt = new Date(clock.now()).toISOString();
      const { number, value } = await kept.append(key, { ...requirement, actor, submittedAt });
      return { entry: entry(number, value), created: value.submittedAt === submittedAt && value.actor === actor };
    },
    list: async (after, most) => (await kept.list(after, most)).map(({ number, value }) => entry(number, value)),
  };
}
