/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import type { AuditEntry } from '@sluice/client';
import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { ann, events, operator, problem, show } from './page.js';

const entry = (n: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ at: Date.now() - n * 1_000, kind: 'tool_call', user: 'user:ann', on_behalf_of: null, request_id: `run-${n}` },
  ...{ session_id: 's-1', tool: `tool-${n}`, outcome: 'ok', authentic: true, config_version: 'c-1' },
  ...{ chain: 'agent.steps/0', sequence: n, source_offset: n, hash: `hash-${n}`, details: { thought: '<b>why</b>' } },
  ...more,
});
const first = (url: URL): boolean => !url.searchParams.has('cursor');

describe('The audit', () => {
  it('lists entries to the last page, and shows one with its record as text', async () => {
    const user = userEvent.setup();
    show('/audit', {
      'GET /v1/audit': ({ url }) =>
        first(url) ? { entries: [entry(1)], next_cursor: 'c' } : { entries: [entry(2)], next_cursor: null },
    });
    expect(await screen.findByText('tool-2')).toBeTruthy();
    expect(await screen.findByText('That is all: 2.')).toBeTruthy();
    await user.click(screen.getAllByRole('link', { name: 'Tool call' })[0] as HTMLElement);
    const panel = await screen.findByRole('region', { name: 'The entry' });
    expect(within(panel).getByRole('region', { name: 'Details' }).textContent).toContain('<b>why</b>');
    expect(within(panel).getByText('run-1').getAttribute('href')).toMatch(/^\/runs\/run-1/);
  });

  it('asks by the filters of its address, and what is typed goes there', async () => {
    const user = userEvent.setup();
    const { asked } = show('/audit?kind=tool_call&since=24h&other=x', {
      'GET /v1/audit': ({ url }) => ({ entries: url.searchParams.has('tool') ? [] : [entry(1)], next_cursor: null }),
    });
    await screen.findByText('tool-1');
    expect(asked).toContain('GET /v1/audit?since=24h&kind=tool_call&limit=100&format=json');
    await user.type(screen.getByRole('textbox', { name: 'Tool' }), 'none-such');
    expect(await screen.findByText('No entry fits these filters.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Remove the filters' }));
    expect(await screen.findByText('tool-1')).toBeTruthy();
  });

  it('says why it cannot be read, and that details of others are for operators', async () => {
    show('/audit', { 'GET /v1/audit': () => problem(503, 'unavailable', 'The lists cannot be read now.') });
    await waitFor(() => expect(screen.getByText('The lists cannot be read now.')).toBeTruthy(), { timeout: 10_000 });
    show('/audit?entry=agent.steps/0/1', {
      'GET /v1/audit': () => ({ entries: [entry(1, { details: null })], next_cursor: null }),
    });
    expect(await screen.findByText('Details of other callers’ entries are for operators.')).toBeTruthy();
  });

  it('is verified with one button: how far it is, what was found in words, and what that means', async () => {
    const user = userEvent.setup();
    const chain = { chain: 'agent.steps/0', entries: 40, sequence: 40, head: 'h', sealed: 38, checkpoints: 2 };
    const end = {
      ...{ type: 'end', ok: false, found: 1, sources: { compared: 39, gone: 0, waiting: 0, not_compared: null } },
      chains: [{ ...chain, beyond_last_checkpoint: 2, waiting: 0, waiting_since: null }],
    };
    const finding = {
      ...{
        type: 'finding',
        kind: 'changed',
        message: 'An entry has other content than its hash says. <b>x</b>',
        what: '',
      },
      ...{ chain: 'agent.steps/0', entries: { first: 7, last: 7 }, place: { partition: 0, offset: 9 } },
      ...{ source_offset: 3, runs: [{ request_id: 'run-7', session_id: 's', tenant: 'acme' }], differences: [] },
    };
    const answers = {
      'GET /v1/audit': () => ({ entries: [entry(1)], next_cursor: null }),
      'STREAM /v1/audit/verify': () =>
        events({ type: 'data', path: [], data: [finding] }, { type: 'data', path: [], data: [end] }),
    };
    show('/audit', answers, operator);
    await user.click(await screen.findByRole('button', { name: 'Verify' }));
    expect(await screen.findByText('One thing is not as the audit wrote it.')).toBeTruthy();
    expect(screen.getByText(/An entry has other content than its hash says. <b>x<\/b>/)).toBeTruthy();
    expect(screen.getByText('agent.steps/0 · entry 7 · record at offset 3 · agent.audit 0/9')).toBeTruthy();
    expect(screen.getByText('run-7').getAttribute('href')).toBe('/runs/run-7');
    expect(screen.getByText(/2 entries lie beyond the last checkpoint/)).toBeTruthy();
  });

  it('says that a verification that was cut proves nothing, and leaves the button out for others', async () => {
    const user = userEvent.setup();
    const answers = {
      'GET /v1/audit': () => ({ entries: [entry(1)], next_cursor: null }),
      'STREAM /v1/audit/verify': () =>
        events({ type: 'data', path: [], data: [{ type: 'failed', message: 'The log could not be read.' }] }),
    };
    show('/audit', answers, operator);
    await user.click(await screen.findByRole('button', { name: 'Verify' }));
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toBe('The audit was not verified to its end. The log could not be read.');
    show('/audit', answers, ann);
    await screen.findByText('tool-1');
    expect(screen.queryByRole('button', { name: 'Verify' })).toBeNull();
  });
});
