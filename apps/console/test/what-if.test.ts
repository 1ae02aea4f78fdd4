import { describe, expect, it } from '@jest/globals';
import type { DifferingDecision } from '@sluice/client';
import { about, countedBy, emptyReport, reported } from '../src/pages/policy/what-if/report.js';

const decision = (more: Partial<DifferingDecision>): DifferingDecision => ({
  ...{ request_id: 'r-1', session_id: 's-1', iteration: 1, topic: 'agent.toolsets', partition: 0, offset: 1 },
  ...{ kind: 'tools', tool: 'add', groups: ['basic'], state: 'undefined', user: 'user:ann', tenant: 'acme' },
  ...{ before: { verdict: 'offered', reasons: [] }, after: { verdict: 'hidden', reasons: [] } },
  ...{ rule: null, facts: {}, ...more },
});
const summary = {
  ...{ config_version: 'c-2', since: 1, until: 2, left_out: 0, considered: 9, altered: 2, not_replayable: 0 },
  ...{ undecodable: 0, is_whole: true, by: { tool: [], group: [], user: [], tenant: [], state: [], rule: [] } },
};

describe('The report of a what-if', () => {
  it('says how far it is, what it found, and how it ended', () => {
    let report = reported(emptyReport, [{ type: 'progress', considered: 4, altered: 1 }], null);
    expect(report).toEqual({ considered: 4, altered: 1, decisions: [], summary: null });
    report = reported(report, [{ type: 'decision', ...decision({}) }], null);
    expect(report.decisions.map(({ tool }) => tool)).toEqual(['add']);
    report = reported(report, [{ type: 'summary', ...summary }], null);
    expect(report).toMatchObject({ considered: 9, altered: 2, summary: { is_whole: true } });
    expect(reported(report, [], null).decisions).toBe(report.decisions);
  });

  it('keeps to one run where it is asked about one: its session may hold others', () => {
    const events = ['r-1', 'r-2'].map((id) => ({ type: 'decision' as const, ...decision({ request_id: id }) }));
    expect(reported(emptyReport, events, 'r-2').decisions.map(({ request_id: id }) => id)).toEqual(['r-2']);
  });

  it('groups decisions by tool, group and user, the most first', () => {
    const decisions = [
      decision({ tool: 'sub', groups: ['basic', 'more'] }),
      decision({}),
      decision({ user: null }),
      decision({ kind: 'run', tool: null }),
    ];
    expect(countedBy(decisions, 'tool')).toEqual([
      { name: 'add', count: 2 },
      { name: 'sub', count: 1 },
    ]);
    expect(countedBy(decisions, 'group')[0]).toEqual({ name: 'basic', count: 4 });
    expect(countedBy(decisions, 'user')).toEqual([{ name: 'user:ann', count: 3 }]);
    expect(countedBy([...decisions, decision({ rule: 'small' })], 'rule')).toEqual([{ name: 'small', count: 1 }]);
    expect(about(decisions, { grouping: 'group', name: 'more' })).toEqual([decisions[0]]);
    expect(about(decisions, null)).toBe(decisions);
  });
});
