/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import '../src/pages/policy/policy.js';
import { setCandidate } from '../src/pages/policy/what-if/candidate.js';
import '../src/pages/policy/what-if/what-if.js';
import { events, operator, problem, show } from './page.js';

const hostile = '<img src=x onerror=alert(1)>';
const view = {
  ...{ config_version: 'c-1', source: 'sluice.yaml', applied_at: 1, compiled_at: 1, in_force: true },
  ...{ text: 'tool: {}\n', text_is_whole: true, document: null },
  ...{ groups: [], states: [], tools: [], agents: [], rules: [], policy: [] },
};
const checked = { ok: true, config_version: 'c-2', tools: 1, problems: [], findings: [], left_out: 0 };
const decision = {
  ...{ type: 'decision', request_id: 'r-1', session_id: 's-1', iteration: 2, topic: 'agent.toolsets', partition: 0 },
  ...{ offset: 1, kind: 'tools', tool: hostile, groups: ['basic'], state: 'undefined', user: 'user:ann' },
  ...{ tenant: 'acme', before: { verdict: 'offered', reasons: [] } },
  after: { verdict: 'hidden', reasons: [{ code: 'policy', text: 'The policy does not allow it.' }] },
  ...{ rule: null, facts: {} },
};
const refusedCall = {
  ...{ ...decision, request_id: 'r-2', offset: 2, kind: 'call', tool: 'pay', rule: 'daily' },
  ...{ before: { verdict: 'made', reasons: [] }, facts: { 'total/user/86400000/sum/amount/core__pay': '480' } },
  after: { verdict: 'refused', reasons: [{ code: 'total_used', text: 'A total of a rule is used.' }] },
};
const summary = {
  ...{ type: 'summary', config_version: 'c-2', since: 1, until: 2, left_out: 0, considered: 7, altered: 1 },
  ...{ not_replayable: 0, undecodable: 0, is_whole: true },
  by: { tool: [], group: [], user: [], tenant: [], state: [], rule: [] },
};
const data = (event: object) => ({ type: 'data', path: [], data: [event] });
const answers = {
  'GET /v1/configurations/current': () => view,
  'POST /v1/configurations/check': () => checked,
};

describe('The what-if', () => {
  it('shows what would be otherwise as it is found, each leading to its run', async () => {
    const bodies: unknown[] = [];
    show(
      '/policy?tab=what-if&since=7d',
      {
        ...answers,
        'STREAM /v1/what-if': ({ body }) => {
          bodies.push(body);
          return events(
            data({ type: 'progress', considered: 5, altered: 0 }),
            data(decision),
            data(refusedCall),
            data(summary),
            '[DONE]',
          );
        },
      },
      operator,
    );
    await userEvent.click(await screen.findByRole('button', { name: 'See what would be otherwise' }));
    expect(await screen.findByText('14.3 % of them')).toBeTruthy();
    const run = screen.getByRole('link', { name: 'r-1, iteration 2' });
    expect(run.getAttribute('href')).toBe('/runs/r-1?tab=tools');
    expect(screen.getByRole('button', { name: /basic/ }).getAttribute('aria-pressed')).toBe('false');
    expect(screen.getAllByText(hostile).length).toBeGreaterThan(0);
    expect(screen.getByText(/Used before of amount \(per user, last 24 h\): 480/)).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: /^daily/ }));
    expect(screen.queryByRole('link', { name: 'r-1, iteration 2' })).toBeNull();
    expect(bodies[0]).toEqual({ text: 'tool: {}\n', since: '7d', limit: 1_000 });
  });

  it('puts the candidate in force once its changes were looked at', async () => {
    setCandidate({ base: 'tool: {}\n', text: 'tool: {}\nrules: []\n' });
    const bodies: unknown[] = [];
    show(
      '/policy?tab=what-if',
      {
        ...answers,
        'POST /v1/configurations': ({ body }) => {
          bodies.push(body);
          const applied = { config_version: 'c-2', replaced: 'c-1', status: 'applied', source: 'kept.yaml' };
          return { ...applied, signed: true, note: null };
        },
      },
      operator,
    );
    await userEvent.click(await screen.findByRole('button', { name: 'Apply it now …' }));
    const changes = await screen.findByRole('region', { name: 'What changes' });
    expect(changes.textContent).toContain('added: rules: []');
    expect(bodies).toEqual([]);
    await userEvent.click(screen.getByRole('button', { name: 'Put it in force' }));
    expect(await screen.findByText('c-2 is in force. Its text is kept in kept.yaml.')).toBeTruthy();
    expect(bodies).toEqual([{ text: 'tool: {}\nrules: []\n', replaces: 'c-1' }]);
  });

  it('is about one run where the address names one, and says in the gateway’s words why it was refused', async () => {
    const { asked } = show(
      '/policy?tab=what-if&run=r-1',
      {
        ...answers,
        'GET /v1/runs/r-1': () => ({
          request_id: 'r-1',
          session_id: 's-1',
          status: 'running',
          since: 1,
          tool_calls: [],
        }),
        'STREAM /v1/what-if': ({ body }) => problem(422, 'invalid_configuration', `Of ${JSON.stringify(body)}`),
      },
      operator,
    );
    await userEvent.click(await screen.findByRole('button', { name: 'See what would be otherwise' }));
    expect(await screen.findByText(/"session_id":"s-1"/)).toBeTruthy();
    expect(asked).toContain('GET /v1/runs/r-1');
  });
});
