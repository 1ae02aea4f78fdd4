/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import type { ListedRun, UsageRow } from '@sluice/client';
import { screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { ann, operator, problem, show } from './page.js';
import type { Answers } from './page.js';

const run: ListedRun = {
  ...{ request_id: 'run-1', session_id: 'run-1', user: 'user:ann', on_behalf_of: null, parent: null, agent: 'default' },
  ...{ question: 'Is it <i>well</i>?', status: 'ended', outcome: 'answer', state: 'undefined', iterations: 1 },
  ...{ tokens: { input: 900, output: 100, cached: 0 }, model: null, usd: 0.02, duration_ms: 900 },
  ...{
    started_at: Date.now() - 60_000,
    ended_at: Date.now() - 59_100,
    href: '/v1/runs/run-1?session_id=run-1&since=1',
  },
};
const row = (name: string, runs: number, failures: number): UsageRow => ({
  ...{ name, runs, calls: null, failures, tokens: { input: 12_000, output: 800, cached: 0 }, usd: 1.5 },
  ...{ runs_without_price: 0, mean_ms: 900, p50_ms: null, p95_ms: null },
});
const answers = (...runs: readonly ListedRun[]): Answers => ({
  'GET /v1/runs': ({ url }) => ({
    runs: url.searchParams.get('outcome') === 'running' ? [] : runs,
    next_cursor: null,
  }),
  'GET /v1/usage': ({ url }) => ({
    ...{ by: url.searchParams.get('by'), since: 0, until: 86_400_000, left_out: false, total: row('all', 7, 2) },
    rows:
      url.searchParams.get('by') === 'agent'
        ? [row('default', 4, 0), row('support', 2, 2), row('', 1, 0)]
        : [row('answer', 5, 0), row('max_iterations', 2, 2)],
  }),
  'GET /v1/groups': () => ({
    config_version: 'c-1',
    groups: [
      { name: 'read-only', groups: [], tools: [{ key: 'knowledge-query' }, { key: 'complex-analysis' }] },
      { name: 'admin', groups: [], tools: [] },
    ],
  }),
});

describe('The first page', () => {
  it('says what runs, what failed and why, and what it cost', async () => {
    show('/', answers(run));
    expect(await screen.findByText('Is it <i>well</i>?')).toBeTruthy();
    expect(await screen.findByText('$1.50')).toBeTruthy();
    expect(screen.getByText('runs, 2 without an answer')).toBeTruthy();
    expect(screen.getByRole('link', { name: 'max_iterations' }).getAttribute('href')).toContain(
      'outcome=max_iterations',
    );
    expect(screen.getByText('It used up its iterations.')).toBeTruthy();
  });

  it('counts the runs of today by agent, each leading to them', async () => {
    show('/', answers(run));
    const support = await screen.findByRole('link', { name: 'support' });
    expect(support.getAttribute('href')).toContain('agent=support');
    expect(support.closest('li')?.textContent).toBe('2support2 without an answer');
    expect(screen.getByText('none without an answer').closest('li')?.textContent).toContain('default');
  });

  it('asks the sample question of a new installation, and leads to its run', async () => {
    const user = userEvent.setup();
    let sent: unknown = null;
    const { asked } = show('/', {
      ...answers(),
      'POST /v1/runs': ({ body }) => {
        sent = body;
        const location = '/v1/runs/run-9?session_id=run-9&since=1';
        const begun = { request_id: 'run-9', session_id: 'run-9', status: 'running', since: 1 };
        return Response.json(begun, { status: 202, headers: { location } });
      },
    });
    expect(await screen.findByText('Ask the first question')).toBeTruthy();
    await user.click(await screen.findByRole('button', { name: /^Which countries border/ }));
    await user.click(screen.getByText('May use all 2 groups of tools'));
    await user.click(screen.getByRole('checkbox', { name: 'admin' }));
    await user.click(screen.getByRole('button', { name: 'Ask' }));
    await waitFor(() => expect(asked.some((each) => each.startsWith('GET /v1/runs/run-9'))).toBe(true));
    expect(sent).toMatchObject({ question: expect.stringContaining('border Switzerland'), group: ['read-only'] });
  });

  it('says why a question is refused, and leaves approvals to approvers', async () => {
    const user = userEvent.setup();
    const refused = { 'POST /v1/runs': () => problem(403, 'insufficient_permissions', 'Ask for the group read-only.') };
    show('/', { ...answers(run), ...refused }, { ...ann, is_approver: false });
    await user.type(await screen.findByRole('textbox', { name: 'Question' }), 'What now?');
    await user.click(screen.getByRole('button', { name: 'Ask' }));
    expect((await screen.findByRole('alert')).textContent).toContain('Ask for the group read-only.');
    expect(screen.queryByText('Waiting approvals')).toBeNull();
    show('/', answers(run), operator);
    expect(await screen.findByText('Waiting approvals')).toBeTruthy();
  });

  it('shows operators which role is behind and what is overdue, and others nothing of it', async () => {
    const role = { role: 'executor', lag: 1_200, topics: [{ topic: 'agent.tool-calls', lag: 1_200 }], problem: null };
    const status = {
      ...{ at: Date.now(), version: '1.0.0', instance: 'i-1', bus: 'kafka', config_version: 'c-1', roles: [role] },
      checks: [{ name: 'ledger', ok: false, said: 'PostgreSQL does not answer.' }],
      runs: { running: 3, oldest_at: null, overdue: 2, overdue_more: false, overdue_runs: [] },
      ...{ approvals: { waiting: 0, oldest_at: null }, dead_letters: { last_day: 1, latest_at: Date.now() } },
    };
    const both = { ...answers(run), 'GET /v1/status': () => status };
    show('/', both, operator);
    expect(await screen.findByText('PostgreSQL does not answer.')).toBeTruthy();
    expect(screen.getByText('1,200 records')).toBeTruthy();
    expect(screen.getByText('2 runs have not ended in time.')).toBeTruthy();
    expect(screen.getByText('1 record was dead-lettered')).toBeTruthy();
    const { asked } = show('/', both, ann);
    await screen.findByText('$1.50');
    expect(asked.filter((each) => each.includes('status'))).toEqual([]);
  });
});
