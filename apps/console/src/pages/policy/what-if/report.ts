import type { DifferingDecision, WhatIf, WhatIfEvent } from '@sluice/client';

/** What is known of a what-if so far. */
export interface WhatIfReport {
  readonly considered: number;
  readonly altered: number;
  readonly decisions: readonly DifferingDecision[];
  /** Null until all was looked at. */
  readonly summary: Omit<WhatIf, 'decisions'> | null;
}

export const emptyReport: WhatIfReport = { considered: 0, altered: 0, decisions: [], summary: null };

/** What is known after some more events. Of one run alone, where it is named: its session may hold others. */
export function reported(report: WhatIfReport, events: readonly WhatIfEvent[], run: string | null): WhatIfReport {
  let { considered, altered, summary } = report;
  const more: DifferingDecision[] = [];
  for (const event of events) {
    switch (event.type) {
      case 'progress':
        ({ considered, altered } = event);
        break;
      case 'decision':
        if (run === null || event.request_id === run) more.push(event);
        break;
      case 'summary':
        ({ considered, altered } = event);
        summary = event;
        break;
    }
  }
  const decisions = more.length === 0 ? report.decisions : [...report.decisions, ...more];
  return { considered, altered, decisions, summary };
}

export const groupings = ['tool', 'group', 'user', 'rule'] as const;
export type Grouping = (typeof groupings)[number];

export interface Counted {
  readonly name: string;
  readonly count: number;
}

/** How many of the listed decisions are about what, the most first. */
export function countedBy(decisions: readonly DifferingDecision[], grouping: Grouping): readonly Counted[] {
  const counts = new Map<string, number>();
  for (const decision of decisions)
    for (const name of namesOf(decision, grouping)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count })).sort((one, other) => other.count - one.count);
}

/** The decisions that are about this. */
export function about(
  decisions: readonly DifferingDecision[],
  chosen: { readonly grouping: Grouping; readonly name: string } | null,
): readonly DifferingDecision[] {
  if (chosen === null) return decisions;
  return decisions.filter((decision) => namesOf(decision, chosen.grouping).includes(chosen.name));
}

function namesOf({ tool, groups, user, rule }: DifferingDecision, grouping: Grouping): readonly string[] {
  switch (grouping) {
    case 'tool':
      return tool === null ? [] : [tool];
    case 'group':
      return groups;
    case 'user':
      return user === null ? [] : [user];
    case 'rule':
      return rule === null ? [] : [rule];
  }
}
