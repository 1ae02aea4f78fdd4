/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { asCommand, asCurl } from '../src/pages/run/commands.js';
import { matrixOf } from '../src/pages/run/verdicts/matrix.js';
import type { Answers } from './page.js';
import { events, problem, show } from './page.js';

const hostile = '<script>alert(1)</script><img src=x onerror=alert(2)>';
const tokens = { input: 10, output: 5, cached: 0 };
const listed = {
  ...{ request_id: 'run-1', session_id: 's-1', user: 'user:ann', on_behalf_of: null, question: 'What is new?' },
  ...{ status: 'ended', outcome: 'answer', state: 'done', iterations: 2, tokens, started_at: 1_000, ended_at: 5_000 },
  ...{ parent: null, model: 'gpt-x', usd: 0.5, duration_ms: 4_000 },
  href: '/v1/runs/run-1?session_id=s-1&since=1000',
};
const calls = [
  { id: 'c1', tool: 'search', arguments: '{"q":"news"}', ok: true, error: null, reason: null, state: 'done', started_at: 2_000, duration_ms: 700 }, // prettier-ignore
  { id: 'c2', tool: 'read', arguments: '{}', ok: false, error: 'execution', reason: 'timeout', state: 'done', started_at: 3_000, duration_ms: 900 }, // prettier-ignore
];
const ended = {
  ...{ request_id: 'run-1', session_id: 's-1', status: 'ended', kind: 'answer', answer: hostile, error: null },
  ...{
    structured: null,
    incomplete: null,
    confidence: null,
    partial: null,
    state: 'done',
    iterations: 2,
    ended_at: 5_000,
  },
  ...{ tool_calls: calls, tokens },
};
const running = {
  ...{ request_id: 'run-1', session_id: 's-1', status: 'running', since: 1_000 },
  tool_calls: [],
  tokens,
};

const tool = (key: string, offered: boolean) => ({
  ...{ key, id: `core__${key}`, title: key, description: hostile, effect: 'read_only', groups: ['news'], offered },
  reasons: offered ? [] : [{ code: 'state', text: 'It is not available in this state.', opens: 'search leads there.' }],
});
const iteration = (number: number, more: object = {}) => ({
  ...{ iteration: number, decided_at: 1_000 * number, state: 'start', group: ['news'], fallback_groups: [] },
  ...{ unknown_groups: [], config_version: 'c-1', tool_choice: null, deadline: 301_000, max_iterations: 10 },
  budgets: { calls: { used: 1, limit: 50 }, tokens: null, micro_usd: null, tools: [] },
  ...{
    offered_count: 1,
    hidden_count: 1,
    same_as: null,
    tools: [tool('search', true), tool('read', false)],
    left_out: 0,
  },
  ...more,
});
const verdicts = { request_id: 'run-1', iterations: [iteration(1), iteration(2, { state: 'done' })] };

/** The chunks of an iteration with one call, as the gateway streams them; parts count from `part`. */
const chunks = (n: number, part: number, { id, name, result, step }: Called) => [
  { type: 'step-start', path: [], messageId: `run-1/${n}` },
  data('iteration', { iteration: n, state: 'start', tools: ['core__search'] }),
  { type: 'part-start', path: [], part: { type: 'tool-call', toolCallId: id, toolName: name } },
  { type: 'text-delta', path: [part + 1], textDelta: '{"q":"news"}' },
  { type: 'tool-call-args-text-finish', path: [part + 1] },
  ...(step === null
    ? []
    : [{ type: 'result', path: [part + 1], result, isError: step.outcome !== 'ok', artifact: step }]),
  ...(step === null ? [] : [{ type: 'step-finish', path: [], usage: { inputTokens: 5, outputTokens: 2 } }]),
];
interface Called {
  readonly id: string;
  readonly name: string;
  readonly result: unknown;
  readonly step: {
    readonly outcome: string;
    readonly reason: string | null;
    state_before: string;
    state: string;
    questions?: readonly object[];
    rule?: string;
    edited?: object;
    facts?: object;
  } | null;
}
const data = (name: string, value: object) => ({
  type: 'part-start',
  path: [],
  part: { type: 'data', name, data: value },
});
const moved = { outcome: 'ok', reason: null, state_before: 'start', state: 'done' };
const asked = { kind: 'elicitation', server: 'wiki', asked_at: 1_000, ended_at: 2_000, reason: null, count: 1 };
const questions = [{ ...asked, outcome: 'answered', by: 'user:ann', input_tokens: 0, output_tokens: 0 }];
const failed = { ...moved, outcome: 'execution', reason: 'timeout', state_before: 'done' };
const whole = [
  data('run', { request_id: 'run-1', session_id: 's-1', since: 1_000 }),
  ...chunks(1, 1, { id: 'c1', name: 'core__search', result: { html: hostile }, step: { ...moved, questions } }),
  ...chunks(2, 3, { id: 'c2', name: 'core__read', result: 'Timed out.', step: failed }),
  { type: 'message-finish', path: [], usage: { inputTokens: 10, outputTokens: 5 } },
];

const answers: Answers = {
  'GET /v1/runs/run-1': () => ended,
  'GET /v1/runs': () => ({ runs: [listed], next_cursor: null }),
  'GET /v1/runs/run-1/verdicts': () => verdicts,
  'STREAM /v1/runs/run-1': () => events(...whole),
  'GET /v1/states': () => ({
    config_version: 'c',
    states: [{ name: 'start', tools: [], transitions: { search: 'done' } }],
  }),
};

describe('A run', () => {
  it('shows question, answer and calls as text, and a call’s arguments and result on demand', async () => {
    show('/runs/run-1', answers);
    expect(await screen.findByRole('heading', { name: 'What is new?' })).toBeTruthy();
    expect((await screen.findByRole('region', { name: 'Answer' })).textContent).toBe(hostile);
    const line = await screen.findByRole('button', { name: /ok:\s*search/ });
    expect(screen.queryByRole('region', { name: 'Result of search' })).toBeNull();
    fireEvent.click(line);
    expect((await screen.findByRole('region', { name: 'Result of search' })).textContent).toContain(hostile);
    expect(screen.getByRole('region', { name: 'Arguments of search' }).textContent).toContain('news');
    expect(screen.getByText(/asked for a form for a person: answered by user:ann/)).toBeTruthy();
    expect(document.querySelector('main img, main script')).toBeNull();
  });

  it.each([
    ['{"n":1}', '{\n  "n": 1\n}'],
    ['{"n":12345678901234567890}', '{"n":12345678901234567890}'],
  ])('shows the JSON of an answer that had to fit a schema: %s', async (structured, shown) => {
    const fenced = { ...ended, answer: '```json', structured };
    show('/runs/run-1', { ...answers, 'GET /v1/runs/run-1': () => fenced });
    expect((await screen.findByRole('region', { name: 'Answer' })).textContent).toBe(shown);
  });

  it('names the rule and the argument of a refusal, what it was judged by, and what an approver changed', async () => {
    const message = 'The argument q is out of its bounds by the rule "own-words": it must have at most 2 characters.';
    const edited = { arguments: '{"q":"all"}', arguments_hash: 'h', edited_by: 'user:bob' };
    const facts = { 'past/session/3600000/core__search': '{"count":2,"succeeded":1,"running":0,"last":"failed"}' };
    const refused = {
      ...failed,
      outcome: 'policy_denied',
      reason: 'arguments_out_of_bounds',
      rule: 'own-words',
      facts,
    };
    show('/runs/run-1', {
      ...answers,
      'STREAM /v1/runs/run-1': () =>
        events(
          whole[0],
          ...chunks(1, 1, { id: 'c1', name: 'core__search', result: 'ok', step: { ...moved, edited } }),
          ...chunks(2, 3, { id: 'c2', name: 'core__read', result: message, step: refused }),
        ),
    });
    expect(await screen.findByText('changed by its approver')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: /ok:\s*search/ }));
    expect(await screen.findByText('Made with, as user:bob changed it')).toBeTruthy();
    expect(screen.getByRole('region', { name: 'Changed arguments of search' }).textContent).toContain('"all"');
    fireEvent.click(screen.getByRole('button', { name: /failed:\s*read/ }));
    expect((await screen.findByText('own-words')).parentElement?.textContent).toBe('own-words, for the argument q');
    const fact = screen.getByText('Calls of core__search (session, last 1 h)');
    expect(fact.parentElement?.textContent).toContain('2 made, 1 succeeded, 0 running, the last one failed');
  });

  it('shows errors in the compact view, and only what failed on demand', async () => {
    show('/runs/run-1', answers);
    expect(await screen.findByText('→ Timed out.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Only what failed (1)' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: /ok:\s*search/ })).toBeNull());
    expect(screen.getByRole('button', { name: /failed:\s*read/ })).toBeTruthy();
  });

  it('follows a run that goes on, and cancels it with a reason', async () => {
    let reason: unknown = null;
    show('/runs/run-1', {
      ...answers,
      'GET /v1/runs': () => ({ runs: [{ ...listed, status: 'running', ended_at: null }], next_cursor: null }),
      'GET /v1/runs/run-1': () => Response.json(running, { status: 202 }),
      'STREAM /v1/runs/run-1': () =>
        events(whole[0], ...chunks(1, 1, { id: 'c1', name: 'core__search', result: null, step: null })),
      'POST /v1/runs/run-1/cancel': ({ body }) => {
        reason = body;
        return Response.json(running, { status: 202 });
      },
    });
    expect(await screen.findByRole('button', { name: /not begun:\s*search/ })).toBeTruthy();
    fireEvent.click(await screen.findByRole('button', { name: 'Cancel the run' }));
    fireEvent.change(await screen.findByLabelText('Reason'), { target: { value: 'No longer needed.' } });
    const buttons = screen.getAllByRole('button', { name: 'Cancel the run' });
    fireEvent.click(buttons.at(-1) as HTMLElement);
    await waitFor(() => expect(reason).toEqual({ reason: 'No longer needed.' }));
  });

  it('says for each tool and iteration why it was hidden, and what would open it', async () => {
    show('/runs/run-1?tab=tools', answers);
    const [cell] = await screen.findAllByRole('button', { name: 'state' });
    fireEvent.click(cell as HTMLElement);
    expect(await screen.findByText('It is not available in this state.')).toBeTruthy();
    expect(screen.getByText('search leads there.')).toBeTruthy();
  });

  it('says what of its budgets it used', async () => {
    show('/runs/run-1?tab=budgets', answers);
    const meter = await screen.findByRole('meter', { name: 'Iterations' });
    expect(meter.getAttribute('aria-valuetext')).toBe('2 of 10');
    expect(screen.getByRole('meter', { name: 'Calls of tools' }).getAttribute('aria-valuetext')).toBe('1 of 50');
  });

  it('lists its content with type, size and age, and shows pictures of points alone', async () => {
    const one = (hash: string, type: string, more: object = {}) => ({
      ...{ hash, type, size: 2_048, kind: 'image', name: `${hash}.bin`, iteration: 1, tool: 'draw' },
      ...{ is_kept: true, written_at: Date.now() - 60_000, expires_at: null },
      ...more,
    });
    const content = [
      one('png', 'image/png', { name: hostile, iteration: null, tool: null }),
      one('svg', 'image/svg+xml'),
      one('page', 'text/html', { kind: 'file' }),
      one('gone', 'image/png', { is_kept: false, written_at: null }),
    ];
    const { asked } = show('/runs/run-1?tab=content', {
      ...answers,
      'GET /v1/runs/run-1/content': () => ({ request_id: 'run-1', content }),
      'GET /v1/runs/run-1/content/png': () => new Response('abc', { headers: { 'content-type': 'text/html' } }),
    });
    const shows = await screen.findAllByRole('button', { name: 'Show' });
    expect(shows).toHaveLength(1);
    expect(screen.getAllByRole('button', { name: 'Download' })).toHaveLength(3);
    expect(screen.getByText('the question')).toBeTruthy();
    expect(screen.getAllByText('draw, iteration 1')).toHaveLength(3);
    expect(screen.getAllByText('2.0 KB')).toHaveLength(4);
    expect(screen.getByText('gone')).toBeTruthy();
    expect(asked.some((path) => path.endsWith('/content/png'))).toBe(false);
    fireEvent.click(shows[0] as HTMLElement);
    await waitFor(() =>
      expect(document.querySelector('main img')?.getAttribute('src')).toBe('data:image/png;base64,YWJj'),
    );
    expect(document.querySelector('main script')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Hide' }));
    expect(document.querySelector('main img')).toBeNull();
  });

  it('says what the gateway refused', async () => {
    show('/runs/run-2', { 'GET /v1/runs/run-2': () => problem(404, 'not_found', 'There is no such run for you.') });
    expect(await screen.findByText('There is no such run for you.')).toBeTruthy();
  });
});

describe('The request as a command', () => {
  const asked = { question: `What's "$HOME"?`, group: ['a', 'b'], state: 'review' };

  it('quotes what a shell would read, and has no credential', () => {
    expect(asCommand(asked)).toBe(`npx sluice ask --group a,b --state review 'What'\\''s "$HOME"?'`);
    expect(asCommand({ ...asked, question: '-v' })).toBe('npx sluice ask --group a,b --state review -- -v');
    expect(asCurl(asked, 'http://localhost')).toContain(`-d '{"question":"What'\\''s`);
    expect(asCurl(asked, 'http://localhost')).toContain('$SLUICE_TOKEN');
  });
});

describe('The verdicts of iterations', () => {
  it('stand in one column where they are the same in the same state', () => {
    const same = { same_as: 1, tools: null };
    const list = [iteration(1), iteration(2, same), iteration(3, { ...same, state: 'done' }), iteration(4)];
    const { columns, tools } = matrixOf(list as never);
    expect(columns.map(({ from, to }) => [from, to])).toEqual([[1, 2], [3, 3], [4, 4]]); // prettier-ignore
    expect(tools.map(({ key }) => key)).toEqual(['search', 'read']);
  });
});
