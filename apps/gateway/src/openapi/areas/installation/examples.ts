import { at, version } from '../../example.js';
import type { Example } from '../../example.js';

export const readUsageExample: Example = {
  query: { by: 'model', since: '30d' },
  answers: {
    200: {
      by: 'model',
      since: at,
      until: at + 30 * 86_400_000,
      rows: [
        {
          ...{ name: 'anthropic/claude-sonnet', runs: 12, calls: null, failures: 1 },
          tokens: { input: 9_744, output: 768, cached: 0 },
          ...{ usd: 0.041, runs_without_price: 0, mean_ms: 1_200, p50_ms: null, p95_ms: null },
        },
      ],
      total: {
        ...{ name: '', runs: 12, calls: null, failures: 1 },
        tokens: { input: 9_744, output: 768, cached: 0 },
        ...{ usd: 0.041, runs_without_price: 0, mean_ms: 1_200, p50_ms: null, p95_ms: null },
      },
      left_out: false,
    },
  },
};

export const readStatusExample: Example = {
  answers: {
    200: {
      ...{ at, version: '5.1.0', instance: 'gateway-0', bus: 'kafka', config_version: 'c-4f2a9d1c7b3e8056' },
      roles: [{ role: 'filter', lag: 0, topics: [{ topic: 'agent.requests', lag: 0 }], problem: null }],
      checks: [{ name: 'log', ok: true, said: 'ok' }],
      runs: { running: 3, oldest_at: at - 4_000, overdue: 0, overdue_more: false, overdue_runs: [] },
      approvals: { waiting: 1, oldest_at: at - 60_000 },
      dead_letters: { last_day: 0, latest_at: null },
    },
  },
};

export const listServersExample: Example = {
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      servers: [
        {
          ...{ name: 'analysis', transport: 'http', at: 'https://analysis.example.com/mcp', state: 'ready' },
          executors: [{ instance: 'executor-0', state: 'ready', error: null, since: at }],
          tools: [
            { key: 'complex-analysis', name: 'complex-analysis', offered: false, unavailable: 'It has changed.' },
          ],
          held_back: [
            {
              ...{ tool: 'complex-analysis', key: 'complex-analysis', description: 'Analyses anything.' },
              pin: '9b74c9897bac770f',
              changes: [{ path: 'description', was: '"Analyses rows."', is: '"Analyses anything."' }],
            },
          ],
        },
      ],
    },
  },
};

export const listConnectionsExample: Example = {
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      connections: [{ name: 'crm', tenants: ['acme'], servers: ['crm'], tools: ['crm-search'] }],
    },
  },
};

export const acceptServerChangesExample: Example = {
  places: { name: 'analysis' },
  body: { tools: [{ tool: 'complex-analysis', pin: '9b74c9897bac770f' }] },
  answers: { 200: { config_version: version, replaced: 'c-11aa22bb33cc44dd', status: 'accepted' } },
};
