/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import '../src/pages/tools/tool.js';
import '../src/pages/tools/tools.js';
import { events, operator, problem, show } from './page.js';

const hostile = '<img src=x onerror=alert(1)>';
const tool = {
  ...{ key: 'add', id: 'core__add', description: `Adds ${hostile}`, effect: 'read_only', groups: ['basic'] },
  ...{ available_in_states: ['*'], state: null },
};
const version = { config_version: 'c-1' };
const groups = { ...version, groups: [{ name: 'basic', groups: [], tools: [tool] }] };
const offered = {
  ...{ key: 'add', id: 'core__add', description: tool.description, effect: 'read_only', groups: ['basic'] },
  ...{ schema_hash: 'h', input_schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } },
};
const list = { ...version, state: 'undefined', group: ['basic'], fallback_groups: [], tools: [offered] };
const used = {
  ...{ name: 'add', runs: null, calls: 40, failures: 1, tokens: null, usd: null, runs_without_price: null },
  ...{ mean_ms: null, p50_ms: 12, p95_ms: 800 },
};
const tried = {
  ...{ tool: 'core__add', effect: 'read_only', offered: true, outcome: 'runs', arguments_valid: true, problems: [] },
  ...{
    authorized: true,
    needs_approval: false,
    code: null,
    reason: null,
    rule: null,
    message: null,
    lists: [],
    counted: [],
  },
};
const answers = {
  'GET /v1/groups': () => groups,
  'GET /v1/tools': () => list,
  'GET /v1/usage': () => ({ by: 'tool', since: 0, until: 1, rows: [used], total: null, left_out: false }),
  'POST /v1/toolsets': () => ({ ...list, tool_choice: null, hidden_counts: {}, call: tried }),
};

const part = (value: object) => ({ type: 'part-start', path: [], part: value });

describe('The tools', () => {
  it('are listed, found by words, and their texts shown as text', async () => {
    show('/tools', answers);
    expect(await screen.findByText(`Adds ${hostile}`)).toBeTruthy();
    await userEvent.type(screen.getByLabelText('Search'), 'nothing');
    expect(await screen.findByText('No tool is like this.')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Show all tools (1)' }));
    expect(await screen.findByRole('link', { name: 'add' })).toBeTruthy();
  });

  it('say what to do where there is none, and why it was refused', async () => {
    show('/tools', { 'GET /v1/groups': () => ({ ...version, groups: [] }) });
    expect(await screen.findByText('There is no tool in a group that you may ask for.')).toBeTruthy();
    show('/tools', { 'GET /v1/groups': () => problem(403, 'authz_denied', 'No group is open to you.') });
    expect(await screen.findByText('No group is open to you.')).toBeTruthy();
  });
});

describe('The page of a tool', () => {
  it('calls it by its form, a dry run first', async () => {
    const bodies: unknown[] = [];
    const { asked } = show('/tools/add', {
      ...answers,
      'POST /v1/runs': ({ body }) => {
        bodies.push(body);
        return events(
          part({ type: 'data', name: 'run', data: { request_id: 'r-1', session_id: 's-1', since: 1 } }),
          part({ type: 'tool-call', toolCallId: 'call-0', toolName: 'core__add' }),
          { type: 'result', path: [1], result: { sum: hostile }, isError: false },
          { type: 'message-finish', path: [], usage: { inputTokens: 0, outputTokens: 0 } },
        );
      },
    });
    expect(await screen.findByText('2.5 %')).toBeTruthy();
    await userEvent.click(await screen.findByRole('button', { name: 'Dry run' }));
    expect(await screen.findByText('It is required.')).toBeTruthy();
    await userEvent.type(screen.getByLabelText('a'), '2');
    expect(screen.getByRole('button', { name: 'Call now' }).hasAttribute('disabled')).toBe(true);
    await userEvent.click(screen.getByRole('button', { name: 'Dry run' }));
    await screen.findByText(/The tool is offered in the state undefined/);
    await userEvent.click(screen.getByRole('button', { name: 'Call now' }));
    expect((await screen.findByRole('link', { name: /Open the run r-1/ })).getAttribute('href')).toBe('/runs/r-1');
    expect((await screen.findByRole('region', { name: 'Result of add' })).textContent).toContain(hostile);
    expect(bodies[0]).toMatchObject({ group: ['basic'], call: { tool: 'core__add', arguments: '{"a":2}' } });
    expect(asked).toContain('POST /v1/toolsets');
  });

  it('shows which field a dry run finds wrong, and calls nothing that would be refused', async () => {
    const refused = { ...tried, outcome: 'refused', arguments_valid: false, code: 'validation', message: hostile };
    const problems = [{ path: '/a', message: 'must be <= 1' }];
    show('/tools/add', {
      ...answers,
      'POST /v1/toolsets': () => ({ ...list, tool_choice: null, hidden_counts: {}, call: { ...refused, problems } }),
    });
    await userEvent.type(await screen.findByLabelText('a'), '2');
    await userEvent.click(screen.getByRole('button', { name: 'Dry run' }));
    expect(await screen.findByText('must be <= 1')).toBeTruthy();
    expect(screen.getByText(/The call would be refused/).textContent).toContain(hostile);
    expect(screen.getByRole('button', { name: 'Call now' }).hasAttribute('disabled')).toBe(true);
    await userEvent.type(screen.getByLabelText('a'), '0');
    expect(screen.queryByText('must be <= 1')).toBeNull();
  });

  it('says in a dry run that a call would wait for an approval, and of whom', async () => {
    const waits = { ...tried, outcome: 'waits', needs_approval: true, approvers: ['user:ann'], authorized: null };
    show('/tools/add', {
      ...answers,
      'POST /v1/toolsets': () => ({ ...list, tool_choice: null, hidden_counts: {}, call: waits }),
    });
    await userEvent.type(await screen.findByLabelText('a'), '2');
    await userEvent.click(screen.getByRole('button', { name: 'Dry run' }));
    const note = await screen.findByText(/would wait for an approval of user:ann/);
    expect(note.textContent).toContain('the authorizer decides at the call');
    expect(screen.getByRole('button', { name: 'Call now' }).hasAttribute('disabled')).toBe(false);
  });

  it('shows operators what bounds say of its calls, and what models are told of them', async () => {
    const own = {
      properties: { to: { type: 'string' }, sum: { type: 'number', minimum: 0 }, note: { type: 'string' } },
    };
    const told = {
      type: 'object',
      properties: { to: { type: 'string', enum: ['ann', 'bob'] }, sum: { type: 'number', minimum: 0, maximum: 500 } },
    };
    const rule = { name: 'small', words: ['Of a call, the argument sum must be at most 500.'], tools: ['add'] };
    const bound = {
      rule: 'small',
      whom: 'the tenant is acme',
      argument: 'sum',
      words: ['must be at most 500', hostile],
    };
    const configured = {
      ...{ key: 'add', id: 'core__add', title: 'Add', description: 'Adds', type: 'add', source: 'built_in' },
      ...{ source_name: null, effect: 'read_only', groups: ['basic'], available_in_states: ['*'], state: null },
      ...{ connection: null, allowed: true, needs_approval: false, unavailable: null, rules: ['small'] },
      bounds: [bound],
    };
    const document = JSON.stringify({ tools: [{ key: 'add', spec: { inputSchema: own } }] });
    show(
      '/tools/add',
      {
        ...answers,
        'GET /v1/tools': () => ({ ...list, tools: [{ ...offered, input_schema: told }] }),
        'GET /v1/configurations/current': ({ url }) => ({
          ...{ ...version, text: null, tools: [configured], groups: [], states: [], agents: [], rules: [rule] },
          ...{ policy: [], document: url.searchParams.get('document') === 'true' ? document : null },
        }),
      },
      operator,
    );
    const row = (await screen.findByText(`must be at most 500 and ${hostile}`)).closest('tr');
    expect(row?.textContent).toContain('the tenant is acme');
    expect(screen.getByText(rule.words[0] ?? '')).toBeTruthy();
    expect(await screen.findAllByText('by a rule')).toHaveLength(2);
    const limits = screen.getAllByRole('cell').map(({ textContent }) => textContent);
    expect(limits).toContain('one of 2 one of ann, bob by a rule');
    expect(limits).toContain('number at least 0 at most 500 by a rule');
    expect(screen.getByText(/Models are not offered note/)).toBeTruthy();
  });

  it('shows operators also a tool that no run is offered, and why', async () => {
    const hidden = {
      ...{ key: 'send', id: 'core__send', title: 'Send', description: 'Sends it', type: 'send', source: 'built_in' },
      ...{ source_name: null, effect: 'external_side_effect', groups: ['basic'], available_in_states: ['done'] },
      ...{ state: null, connection: null, allowed: false, needs_approval: true, unavailable: null, rules: [] },
    };
    const document = JSON.stringify({ tools: [{ key: 'send', spec: { inputSchema: { properties: { to: {} } } } }] });
    show(
      '/tools/send',
      {
        ...answers,
        'GET /v1/configurations/current': ({ url }) => ({
          ...{ ...version, text: null, tools: [hidden], groups: [], states: [], agents: [], rules: [], policy: [] },
          document: url.searchParams.get('document') === 'true' ? document : null,
        }),
      },
      operator,
    );
    const why = await screen.findByRole('link', { name: 'See what would open it' });
    expect(why.getAttribute('href')).toBe('/policy?tab=caller&state=done');
    expect(await screen.findByRole('region', { name: 'Arguments' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Call now' })).toBeNull();
  });
});
