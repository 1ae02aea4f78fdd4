/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { ListedRun } from '@sluice/client';
import { laterWith, withLater } from '../src/pages/runs/newest.js';
import { events, problem, show } from './page.js';

const run = (n: number, more: Partial<ListedRun> = {}): ListedRun => ({
  ...{ request_id: `run-${n}`, session_id: `session-${n}`, user: 'user:ann', on_behalf_of: null },
  ...{ question: `Question ${n}?`, status: 'ended', outcome: 'answer', state: 'start', iterations: 2 },
  tokens: { input: 1_200, output: 34, cached: 0 },
  ...{ parent: null, agent: 'default', model: null, usd: 0.0123, duration_ms: 2_500 },
  ...{ started_at: 1_000_000, ended_at: 1_002_500, href: `/v1/runs/run-${n}?session_id=session-${n}&since=999999` },
  ...more,
});
const list = (runs: readonly ListedRun[], next: string | null = null) => ({ runs, next_cursor: next });
const groups = { config_version: 'c', groups: [{ name: 'read-only', groups: [], tools: [] }] };
const states = { config_version: 'c', states: [{ name: 'review', tools: [], transitions: {} }] };

describe('The list of runs', () => {
  it('shows what was asked and how it went, and leads to the run', async () => {
    show('/runs', {
      'GET /v1/runs': () => list([run(1), run(2, { status: 'running', outcome: 'running', ended_at: null })]),
    });
    const link = await screen.findByRole('link', { name: 'Question 1?' });
    expect(link.getAttribute('href')).toBe('/runs/run-1?session=session-1&since=999999');
    const row = link.closest('[role=row]') as HTMLElement;
    expect(within(row).getByText('answer')).toBeTruthy();
    expect(within(row).getByText('2.50 s')).toBeTruthy();
    expect(within(row).getByText('$0.01')).toBeTruthy();
    expect(screen.getByText('running')).toBeTruthy();
  });

  it('names the agents where a run asked another one than the default', async () => {
    show('/runs', { 'GET /v1/runs': () => list([run(1), run(2, { agent: 'support' })]) });
    expect(await screen.findByRole('columnheader', { name: 'Agent' })).toBeTruthy();
    expect(screen.getByRole('cell', { name: 'support' })).toBeTruthy();
    show('/runs', { 'GET /v1/runs': () => list([run(1), run(2)]) });
    expect(await screen.findByRole('link', { name: 'Question 2?' })).toBeTruthy();
    expect(screen.queryByRole('columnheader', { name: 'Agent' })).toBeNull();
  });

  it('asks the gateway by the filters of its address', async () => {
    const { asked } = show('/runs?outcome=deadline_exceeded&session=s-1', { 'GET /v1/runs': () => list([]) });
    expect(await screen.findByText('No run matches these filters.')).toBeTruthy();
    expect(asked).toContain('GET /v1/runs?outcome=deadline_exceeded&session_id=s-1&limit=100');
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    await waitFor(() => expect(asked).toContain('GET /v1/runs?limit=100'));
  });

  it('does not lead to runs of others, nor show them as anything but text', async () => {
    const hostile = '<img src=x onerror=alert(1)>';
    show('/runs', {
      'GET /v1/runs': () => list([run(1, { question: null, href: null }), run(2, { question: hostile })]),
    });
    expect(await screen.findByText('A run of another caller')).toBeTruthy();
    expect(screen.getByRole('link', { name: hostile })).toBeTruthy();
    expect(document.querySelector('main img')).toBeNull();
  });

  it('says what to do where there are none, and what the gateway refused', async () => {
    show('/runs', { 'GET /v1/runs': () => list([]) });
    expect(await screen.findByText('There are no runs yet.')).toBeTruthy();
    show('/runs', { 'GET /v1/runs': () => problem(403, 'forbidden', 'The local secret is needed.') });
    expect(await screen.findByText('The local secret is needed.')).toBeTruthy();
  });

  it('asks a question with groups and a state, and goes to its run', async () => {
    let sent: unknown = null;
    const created = { ...{ request_id: 'run-9', session_id: 'run-9', status: 'running' }, since: 5, tool_calls: [] };
    const { asked } = show('/runs', {
      'GET /v1/runs': () => list([]),
      'GET /v1/groups': () => groups,
      'GET /v1/states': () => states,
      'POST /v1/runs': ({ body }) => {
        sent = body;
        const headers = { location: '/v1/runs/run-9?session_id=run-9&since=5&token=secret' };
        return Response.json({ ...created, tokens: { input: 0, output: 0, cached: 0 } }, { status: 202, headers });
      },
    });
    const [button] = await screen.findAllByRole('button', { name: 'Ask a question' });
    fireEvent.click(button as HTMLElement);
    fireEvent.change(await screen.findByLabelText('Question'), { target: { value: 'Who?' } });
    fireEvent.click(await screen.findByLabelText('read-only'));
    fireEvent.click(screen.getByRole('button', { name: 'Ask' }));
    await waitFor(() => expect(asked).toContain('GET /v1/runs/run-9?session_id=run-9&since=5'));
    expect(sent).toEqual({ question: 'Who?', group: ['read-only'], state: 'undefined' });
    expect(asked.join()).not.toContain('secret');
  });

  it('uploads the files of a question first, and says which is not taken', async () => {
    let sent: unknown = null;
    const name = (hash: string) => ({ hash, type: 'image/png', size: 3, kind: 'image', name: `${hash}.png` });
    const { asked } = show('/runs', {
      'GET /v1/runs': () => list([]),
      'GET /v1/groups': () => groups,
      'GET /v1/states': () => states,
      'POST /v1/uploads': ({ url }) =>
        url.searchParams.get('name') === 'bad.png'
          ? problem(400, 'invalid_request', 'The file "bad.png" is none.')
          : { content: name('a'), expires_at: 1 },
      'POST /v1/runs': ({ body }) => {
        sent = body;
        const created = { request_id: 'run-9', session_id: 'run-9', status: 'running', since: 5, tool_calls: [] };
        const headers = { location: '/v1/runs/run-9?session_id=run-9&since=5' };
        return Response.json({ ...created, tokens: { input: 0, output: 0, cached: 0 } }, { status: 202, headers });
      },
    });
    const [button] = await screen.findAllByRole('button', { name: 'Ask a question' });
    fireEvent.click(button as HTMLElement);
    fireEvent.change(await screen.findByLabelText('Question'), { target: { value: 'What is it?' } });
    const files = ['a.png', 'bad.png'].map((file) => new File(['png'], file, { type: 'image/png' }));
    fireEvent.change(document.querySelector('input[type=file]') as HTMLInputElement, { target: { files } });
    fireEvent.click(screen.getByRole('button', { name: 'Ask' }));
    expect(await screen.findByText('The file "bad.png" is none.')).toBeTruthy();
    expect(sent).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Leave out bad.png' }));
    fireEvent.click(screen.getByRole('button', { name: 'Ask' }));
    await waitFor(() => expect(asked).toContain('GET /v1/runs/run-9?session_id=run-9&since=5'));
    expect(sent).toMatchObject({ question: 'What is it?', content: [name('a')] });
    expect(asked).toContain('POST /v1/uploads?name=a.png');
  });
});

describe('New runs', () => {
  const read = { pages: [{ items: [run(2), run(1)], next: 'x' }], pageParams: [null] };
  const later = (...runs: readonly ListedRun[]) => ({ runs, left: new Set<string>() });
  const ids = (pages: ReturnType<typeof withLater>) =>
    pages?.pages.map(({ items }) => items.map(({ request_id: id }) => id));

  it('come first where they are wanted, and what is known of the others is renewed', () => {
    const changed = run(2, { outcome: 'cancelled' });
    const next = withLater(read, later(run(3), changed, run(1)), true);
    expect(ids(next)).toEqual([['run-3', 'run-2', 'run-1']]);
    expect(next?.pages[0]?.items[1]?.outcome).toBe('cancelled');
    expect(ids(withLater(read, later(run(3), changed, run(1)), false))).toEqual([['run-2', 'run-1']]);
  });

  it('change nothing where nothing is new', () => {
    expect(withLater(read, later(run(2), run(1)), true)).toBe(read);
    expect(withLater(read, later(), true)).toBe(read);
  });

  it('have the list read anew where some may lie between', () => {
    expect(withLater(read, later(run(9), run(8)), true)).toBeNull();
  });

  it('leave where the filter no longer has them, and come again where it has', () => {
    const newer = run(2, { started_at: 2_000_000 });
    const gone = laterWith(later(newer, run(1)), [{ type: 'left', request_id: 'run-2' }]);
    expect(ids(withLater(read, gone, true))).toEqual([['run-1']]);
    expect(laterWith(gone, [{ type: 'run', run: newer }])).toEqual(later(newer, run(1)));
  });

  it('are shown as they come', async () => {
    show('/runs', {
      'GET /v1/runs': () => list([run(1)]),
      'STREAM /v1/runs': () =>
        events({
          type: 'data',
          path: [],
          data: [run(1), run(2, { started_at: 2_000_000 })].map((each) => ({ type: 'run', run: each })),
        }),
    });
    expect(await screen.findByRole('link', { name: 'Question 2?' })).toBeTruthy();
    expect(screen.getAllByRole('link', { name: 'Question 1?' })).toHaveLength(1);
  });
});
