/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen, waitFor, within } from '@testing-library/react';
import '../src/pages/servers/servers.js';
import { userEvent } from '@testing-library/user-event';
import { ann, operator, problem, show } from './page.js';

const hostile = '<script>alert(1)</script>';
const server = {
  ...{ name: 'weather', transport: 'stdio', at: 'weather-server', state: 'waiting' },
  executors: [{ instance: 'executor-1', state: 'waiting', error: `It said ${hostile}`, since: 1 }],
  tools: [{ key: 'forecast', name: 'forecast', offered: false, unavailable: 'It changed.' }],
  held_back: [
    {
      ...{ tool: 'forecast', key: 'forecast', description: hostile, pin: 'pin-1' },
      changes: [{ path: 'description', was: 'Tells the weather', is: `Tells ${hostile}` }],
    },
  ],
};
const version = { config_version: 'c-1' };
const mail = { name: 'mail', tenants: ['*'], servers: ['weather'], tools: ['forecast'] };
const answers = {
  'GET /v1/servers': () => ({ ...version, servers: [server] }),
  'GET /v1/connections': () => ({ ...version, connections: [mail] }),
};

describe('The servers', () => {
  it('are shown with how they stand, their tools, and connections', async () => {
    show('/servers', answers, operator);
    expect(await screen.findByRole('heading', { name: 'weather' })).toBeTruthy();
    expect(screen.getByText(`It said ${hostile}`)).toBeTruthy();
    expect(screen.getByText('one tool held back')).toBeTruthy();
    const connections = await screen.findByRole('table', { name: 'Connections' });
    expect(within(connections).getByRole('link', { name: 'forecast' }).getAttribute('href')).toBe('/tools/forecast');
  });

  it('show held-back changes before and after, as text, and how to allow them', async () => {
    show('/servers', answers, operator);
    const change = await screen.findByRole('region', { name: 'What changed in description of forecast' });
    expect(within(change).getByText('Tells the weather')).toBeTruthy();
    expect(within(change).getByText(`Tells ${hostile}`)).toBeTruthy();
    expect(screen.getByText('npx sluice mcp approve weather')).toBeTruthy();
  });

  it('let an operator allow what is shown, and say why not', async () => {
    const user = userEvent.setup();
    const sent: unknown[] = [];
    show(
      '/servers',
      {
        ...answers,
        'POST /v1/servers/weather/accept': ({ body }) => {
          sent.push(body);
          if (sent.length === 1) return problem(409, 'conflict', 'weather says something else of forecast by now.');
          return { config_version: 'c-2', replaced: 'c-1', status: 'accepted' };
        },
      },
      operator,
    );
    await user.click(await screen.findByRole('button', { name: 'Allow as they are now …' }));
    const dialog = await screen.findByRole('dialog', { name: 'Allow this tool of weather as shown?' });
    const change = within(dialog).getByRole('region', { name: 'What changed in description of forecast' });
    expect(within(change).getByText(`Tells ${hostile}`)).toBeTruthy();
    expect(sent).toEqual([]);
    await user.click(within(dialog).getByRole('button', { name: 'Allow as shown' }));
    expect(await within(dialog).findByText(/weather says something else of forecast by now/)).toBeTruthy();
    await user.click(within(dialog).getByRole('button', { name: 'Allow as shown' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const asked = { tools: [{ tool: 'forecast', pin: 'pin-1' }] };
    expect(sent).toEqual([asked, asked]);
  });

  it('say how to name one where there is none, and are for operators', async () => {
    show('/servers', { ...answers, 'GET /v1/servers': () => ({ ...version, servers: [] }) }, operator);
    expect(await screen.findByText('The configuration names no MCP server.')).toBeTruthy();
    show('/servers', {}, ann);
    expect(await screen.findByText('Servers are for operators.')).toBeTruthy();
    const refused = () => problem(503, 'busy', 'The ledger cannot be read now.');
    show('/servers', { ...answers, 'GET /v1/servers': refused }, operator);
    expect(await screen.findByText('The ledger cannot be read now.')).toBeTruthy();
  });
});
