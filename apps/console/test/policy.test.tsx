/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import '../src/pages/policy/policy.js';
import { ann, operator, problem, show } from './page.js';

const hostile = '<img src=x onerror=alert(1)>';
const version = { config_version: 'c-1' };
const view = {
  ...version,
  ...{ source: 'sluice.yaml', applied_at: 1, compiled_at: 1, in_force: true, text: null, text_is_whole: false },
  ...{ document: null, agents: [], policy: ['1 tools are allowed.'] },
  groups: [{ name: 'basic', groups: [], tools: ['add'] }],
  states: [{ name: 'undefined', tools: ['add'], transitions: {}, reachable: true, dead_end: false }],
  tools: [],
  rules: [{ name: 'office', words: [`Available when ${hostile}.`], tools: ['add'] }],
};
const answers = {
  'GET /v1/configurations/current': () => view,
  'GET /v1/configurations/current/matrix': () => ({
    ...{ ...version, groups: ['basic'], states: ['undefined', 'done'], left_out: 0 },
    cells: [{ group: 'basic', state: 'undefined', tools: ['add'] }],
  }),
};

describe('The policy', () => {
  it('is shown as groups and states, and its rules in words', async () => {
    show('/policy', answers, operator);
    const row = await screen.findByRole('row', { name: /basic/ });
    expect(within(row).getByRole('link', { name: 'add' }).getAttribute('href')).toBe('/tools/add');
    expect(within(row).getByText('no tool')).toBeTruthy();
    expect(await screen.findByText(`Available when ${hostile}.`)).toBeTruthy();
  });

  it('is for operators, and says in the gateway’s words why it was refused', async () => {
    show('/policy', answers, ann);
    expect(await screen.findByText('The policy is for operators.')).toBeTruthy();
    const refused = () => problem(403, 'authz_denied', 'Only operators see configurations.');
    show('/policy', { 'GET /v1/configurations/current/matrix': refused }, operator);
    expect(await screen.findByText('Only operators see configurations.')).toBeTruthy();
  });

  it('gives each tool’s verdict for a caller, with the reason and what would open it', async () => {
    const bodies: unknown[] = [];
    const explained = {
      ...{ ...version, is_candidate: false, state: 'undefined', group: ['basic'], fallback_groups: [] },
      ...{ permitted: false, refused_groups: ['basic'], refusal: 'basic is not open to it.', tool_choice: null },
      ...{ warnings: [] },
      tools: [
        {
          ...{ key: 'add', id: 'core__add', offered: false, needs_approval: false, authorized: null },
          reasons: [
            {
              code: 'context',
              text: 'A rule closes it.',
              opens: `Be ${hostile}`,
              rules: [{ name: 'office', words: ['Never.'] }],
            },
          ],
        },
      ],
    };
    show(
      '/policy?tab=caller&group=basic&roles=a,b&claims=team%3Dx',
      { ...answers, 'POST /v1/explain': ({ body }) => (bodies.push(body), explained) },
      operator,
    );
    expect(await screen.findByText(`Be ${hostile}`)).toBeTruthy();
    expect(screen.getByText('Rule “office”: Never.')).toBeTruthy();
    expect(screen.getByText('The request would be refused: basic is not open to it.')).toBeTruthy();
    expect(bodies[0]).toEqual({ group: ['basic'], roles: ['a', 'b'], claims: { team: ['x'] }, connections: ['*'] });
    await userEvent.type(screen.getByLabelText('User'), 'user:ann{Enter}');
    await screen.findByText(`Be ${hostile}`);
    expect(bodies.at(-1)).toMatchObject({ user: 'user:ann' });
  });

  it('compares two versions, before and after', async () => {
    const { asked } = show(
      '/policy?tab=versions&version=c-1&from=c-0',
      {
        ...answers,
        'GET /v1/configurations': () => ({
          configurations: ['c-1', 'c-0'].map((name, place) => ({
            ...{ config_version: name, source: 'sluice.yaml', applied_at: 1, compiled_at: 1, in_force: place === 0 },
            ...{ refused: null, tools: 1 },
          })),
          next_cursor: null,
        }),
        'GET /v1/configurations/c-1/diff': () => ({
          ...{ ...version, from: 'c-0', left_out: 0 },
          changes: [{ kind: 'tool', name: 'add', change: 'changed', part: 'groups', before: 'none', after: hostile }],
        }),
      },
      operator,
    );
    expect(await screen.findByText(hostile)).toBeTruthy();
    expect(asked).toContain('GET /v1/configurations/c-1/diff?from=c-0');
  });
});
