import { mostStanding } from '@sluice/core';
import type { Clock, Documents, PastCalls, StandingApproval, StandingRejection } from '@sluice/core';

/** How often a change is tried again that others came before. */
const mostTries = 20;
const oneCall = 1_000_000n;
/** Revoked and ended ones are shown for so long. */
const shownMs = 24 * 3_600_000;

interface StandingParts {
  readonly documents: Documents;
  readonly past: PastCalls;
  readonly clock: Clock;
}

/** What is kept of a tenant; who revoked what is kept beside it until it is over. */
interface Kept {
  readonly version: number;
  readonly all: readonly StandingApproval[];
}

/**
 * The standing approvals of a tenant, in the ledger’s database: what stands on the log under their names and is not
 * here counts for nothing.
 */
export class StandingApprovals {
  constructor(private readonly parts: StandingParts) {}

  /** Those in force and those that ended within a day, in the order in which they were given. */
  async of(tenant: string): Promise<readonly StandingApproval[]> {
    return (await this.read(tenant)).all;
  }

  /** Null once it is in force; given again it changes nothing. */
  async give(tenant: string, given: StandingApproval): Promise<StandingRejection | null> {
    return this.change(tenant, (all) => {
      const own = all.find(({ id }) => id === given.id);
      if (own !== undefined) return isSame(own, given) ? null : 'already_decided';
      const inForce = all.filter(({ revoked, until }) => revoked === null && until > this.parts.clock.now());
      return inForce.length >= mostStanding ? 'too_many_standing' : [...all, given];
    });
  }

  async revoke(tenant: string, id: string, revoked: StandingApproval['revoked']): Promise<StandingRejection | null> {
    return this.change(tenant, (all) => {
      const own = all.find((one) => one.id === id);
      if (own === undefined) return 'unknown_standing';
      if (own.revoked !== null) return null;
      return all.map((one) => (one === own ? { ...one, revoked } : one));
    });
  }

  /** Whether the call is one of those that it lets through; a call that was counted is not counted again. */
  async use(tenant: string, { id, calls, until, givenAt }: StandingApproval, callKey: string): Promise<boolean> {
    const now = this.parts.clock.now();
    const counted = { scope: `tenant/${tenant}`, item: `standing/${id}` };
    const answer = await this.parts.past.begin({
      ...{ callKey: `standing/${id}/${callKey}`, now, keepMs: Math.max(1, until - givenAt) + shownMs, runningMs: 1 },
      marks: [{ ...counted, amount: oneCall }],
      limits: [
        {
          ...{ scope: counted.scope, items: [counted.item], since: givenAt - shownMs, isRunningOnly: false },
          ...{ adds: oneCall, atMost: oneCall * BigInt(calls) },
        },
      ],
      claim: null,
    });
    return answer.kind === 'begun';
  }

  /** How many calls each let through. */
  async used(tenant: string, all: readonly StandingApproval[]): Promise<readonly number[]> {
    const asked = all.map(({ id, givenAt }) => {
      return { scope: `tenant/${tenant}`, item: `standing/${id}`, since: givenAt - shownMs };
    });
    const counts = asked.length === 0 ? [] : await this.parts.past.read(asked, this.parts.clock.now());
    return counts.map(({ calls }) => calls);
  }

  private async read(tenant: string): Promise<Kept> {
    const found = await this.parts.documents.find(keyOf(tenant));
    if (found === undefined) return { version: 0, all: [] };
    const since = this.parts.clock.now() - shownMs;
    const all = JSON.parse(found.text) as readonly StandingApproval[];
    return { version: found.version, all: all.filter(({ until }) => until > since) };
  }

  private async change(
    tenant: string,
    change: (all: readonly StandingApproval[]) => readonly StandingApproval[] | StandingRejection | null,
  ): Promise<StandingRejection | null> {
    for (let tries = 0; tries < mostTries; tries++) {
      const { version, all } = await this.read(tenant);
      const next = change(all);
      if (next === null || typeof next === 'string') return next;
      const expiresAt = Math.max(...next.map(({ until }) => until)) + shownMs;
      if (await this.parts.documents.put(keyOf(tenant), version + 1, JSON.stringify(next), expiresAt)) return null;
    }
    throw new Error('The standing approvals of the tenant change too often. Try again.');
  }
}

function keyOf(tenant: string): string {
  return `standing/${tenant}`;
}

function isSame(one: StandingApproval, other: StandingApproval): boolean {
  const { revoked: _, givenAt: _at, ...own } = one;
  const { revoked: __, givenAt: __at, ...given } = other;
  return JSON.stringify(own) === JSON.stringify(given);
}
