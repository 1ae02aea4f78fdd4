/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import '../src/pages/servers/servers.js';
import { ann, operator, problem, show } from './page.js';

const hostile = '<script>alert(1)</script>';
const tool = {
  ...{ key: 'forecast', id: 'mcp__weather__forecast', title: 'Forecast', description: hostile, type: 'mcp-tool' },
  ...{
    source: 'mcp',
    source_name: 'weather',
    effect: 'read_only',
    groups: [],
    available_in_states: ['*'],
    state: null,
  },
  ...{ connection: 'mail', allowed: true, needs_approval: false, unavailable: `The server said ${hostile}`, rules: [] },
};
const view = {
  ...{ config_version: 'c-1', source: 'sluice.yaml', applied_at: 1, compiled_at: 1, in_force: true },
  ...{ text: null, text_is_whole: false, document: null },
  ...{ groups: [], states: [], tools: [tool], agents: [], rules: [], policy: [] },
};
const path = 'GET /v1/configurations/current';

describe('The servers', () => {
  it('are shown with their tools, what is wrong with them, and connections', async () => {
    show('/servers', { [path]: () => view }, operator);
    expect(await screen.findByRole('heading', { name: 'weather' })).toBeTruthy();
    expect(screen.getByText(`The server said ${hostile}`)).toBeTruthy();
    expect(screen.getByText('1 of 1 tools cannot be offered')).toBeTruthy();
    const connections = screen.getByRole('table', { name: 'Connections' });
    expect(within(connections).getByRole('link', { name: 'forecast' }).getAttribute('href')).toBe('/tools/forecast');
  });

  it('say how to name one where there is none, and are for operators', async () => {
    show('/servers', { [path]: () => ({ ...view, tools: [] }) }, operator);
    expect(await screen.findByText('No tool comes from an MCP server.')).toBeTruthy();
    show('/servers', {}, ann);
    expect(await screen.findByText('Servers are for operators.')).toBeTruthy();
    show('/servers', { [path]: () => problem(503, 'busy', 'The log cannot be read now.') }, operator);
    expect(await screen.findByText('The log cannot be read now.')).toBeTruthy();
  });
});
