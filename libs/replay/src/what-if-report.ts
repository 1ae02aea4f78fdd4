import { hiddenReasonTexts, rejectionReasons, runErrorOf, toolErrorReasons } from '@sluice/core';
import type { Change } from './change.js';
import type { Reconsidered } from './what-if.js';

/** Names that are counted of each kind, and that the summary lists. */
const mostCounted = 10_000;
const mostSummed = 200;

/** One thing that a candidate would decide otherwise, on the wire. */
export interface DifferingDecision {
  readonly request_id: string;
  readonly session_id: string;
  readonly iteration: number | null;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly kind: Change['kind'];
  /** By its key; null where it is about no tool. */
  readonly tool: string | null;
  readonly groups: readonly string[];
  readonly state: string;
  readonly user: string | null;
  readonly tenant: string | null;
  readonly before: DecidedSo;
  readonly after: DecidedSo;
  /** Of a call, the rule that refuses it; null for none. */
  readonly rule: string | null;
  /** Of a call, what was found out to judge it. */
  readonly facts: Readonly<Record<string, string>>;
}

interface DecidedSo {
  readonly verdict: string;
  readonly reasons: readonly { readonly code: string; readonly text: string }[];
}

/** How often decisions would be others, by what they are about. */
interface WhatIfSummary {
  readonly considered: number;
  readonly altered: number;
  readonly not_replayable: number;
  readonly by: Readonly<Record<'tool' | 'group' | 'user' | 'tenant' | 'state' | 'rule', readonly NamedCount[]>>;
}

interface NamedCount {
  readonly name: string;
  readonly count: number;
}

/** A reconsidered decision as rows, one for each tool or call that it would treat otherwise. */
export function differingDecisions(reconsidered: Reconsidered): readonly DifferingDecision[] {
  const { requestId, sessionId, iteration, topic, partition, offset, groups, state, actor, tenant } = reconsidered;
  const about = {
    ...{ request_id: requestId, session_id: sessionId, iteration, topic, partition, offset },
    ...{ groups, state, user: actor || null, tenant: tenant || null },
  };
  return reconsidered.changes.flatMap((change) =>
    sidesOf(change, reconsidered).map((sides) => ({ ...about, kind: change.kind, ...sides, ...judgedBy(change) })),
  );
}

function judgedBy(change: Change): Pick<DifferingDecision, 'rule' | 'facts'> {
  if (change.kind !== 'call') return { rule: null, facts: {} };
  return { rule: change.rule ?? null, facts: change.facts ?? {} };
}

type Sides = Pick<DifferingDecision, 'tool' | 'before' | 'after'>;

function sidesOf(change: Change, { hidden }: Pick<Reconsidered, 'hidden'>): readonly Sides[] {
  switch (change.kind) {
    case 'tools':
      return [
        ...change.gained.map((tool) => ({ tool, before: hiddenSo(hidden[tool]), after: so('offered') })),
        ...change.lost.map((tool) => ({ tool, before: so('offered'), after: hiddenSo(hidden[tool]) })),
        ...change.altered.map((tool) => ({
          ...{ tool, before: so('offered') },
          after: { verdict: 'offered', reasons: [{ code: 'described_otherwise', text: 'Its description or its schema would be another.' }] }, // prettier-ignore
        })),
      ];
    case 'call':
      return [{ tool: change.tool, before: calledSo(change.was), after: calledSo(change.would) }];
    case 'state':
      return [{ tool: change.tool, before: so(change.was), after: so(change.would) }];
    case 'run':
      return [{ tool: null, before: endedSo(change.was), after: endedSo(change.would) }];
    case 'approval':
      return [{ tool: change.tool || null, before: judgedSo(change.was), after: judgedSo(change.would) }];
  }
}

function so(verdict: string, code?: string, text?: string): DecidedSo {
  return { verdict, reasons: code === undefined ? [] : [{ code, text: text ?? code }] };
}

function hiddenSo(reasons: Reconsidered['hidden'][string] | undefined): DecidedSo {
  if (reasons === undefined) return so('hidden');
  if (reasons.length === 0) return so('hidden', 'not_configured', 'The configuration does not have the tool.');
  return { verdict: 'hidden', reasons: reasons.map((code) => ({ code, text: hiddenReasonTexts[code] })) };
}

/** By the words of `changedCalls`. */
function calledSo(fate: string): DecidedSo {
  const [, reason] = /^refused: (.+)$/.exec(fate) ?? [];
  if (reason === undefined) return so(fate);
  const known = Object.hasOwn(toolErrorReasons, reason)
    ? toolErrorReasons[reason as keyof typeof toolErrorReasons].meaning
    : reason;
  return so('refused', reason, known);
}

function endedSo(code: string): DecidedSo {
  return code === 'goes on' ? so(code) : so('ends', code, runErrorOf(code)?.meaning);
}

function judgedSo(outcome: string): DecidedSo {
  if (outcome === 'taken') return so('counts');
  const known = Object.hasOwn(rejectionReasons, outcome)
    ? rejectionReasons[outcome as keyof typeof rejectionReasons]
    : outcome;
  return so('does not count', outcome, known);
}

/** Counts what a candidate would decide otherwise. */
export class WhatIfCounts {
  considered = 0;
  altered = 0;
  notReplayable = 0;
  private readonly by = {
    tool: new Map<string, number>(),
    group: new Map<string, number>(),
    user: new Map<string, number>(),
    tenant: new Map<string, number>(),
    state: new Map<string, number>(),
    rule: new Map<string, number>(),
  };

  add({ notReplayable, changes }: Reconsidered, rows: readonly DifferingDecision[]): void {
    this.considered++;
    if (notReplayable !== null) this.notReplayable++;
    if (changes.length === 0) return;
    this.altered++;
    for (const tool of new Set(rows.flatMap((row) => row.tool ?? []))) count(this.by.tool, tool);
    for (const rule of new Set(rows.flatMap((row) => row.rule ?? []))) count(this.by.rule, rule);
    const [first] = rows;
    if (first === undefined) return;
    for (const group of first.groups) count(this.by.group, group);
    if (first.user !== null) count(this.by.user, first.user);
    if (first.tenant !== null) count(this.by.tenant, first.tenant);
    count(this.by.state, first.state);
  }

  summary(): WhatIfSummary {
    const { tool, group, user, tenant, state, rule } = this.by;
    return {
      ...{ considered: this.considered, altered: this.altered, not_replayable: this.notReplayable },
      by: {
        ...{ tool: most(tool), group: most(group), user: most(user), tenant: most(tenant) },
        ...{ state: most(state), rule: most(rule) },
      },
    };
  }
}

function count(counts: Map<string, number>, name: string): void {
  const before = counts.get(name);
  if (before !== undefined || counts.size < mostCounted) counts.set(name, (before ?? 0) + 1);
}

function most(counts: ReadonlyMap<string, number>): readonly NamedCount[] {
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.slice(0, mostSummed).map(([name, times]) => ({ name, count: times }));
}
