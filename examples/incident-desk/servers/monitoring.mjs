#!/usr/bin/env node
// An MCP server over standard input and output: alerts, metrics and logs of the shop, to read alone.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { alerts, logs, metrics, readState, result, services, units } from './world.mjs';

const service = z.enum(services).describe('Which service.');
const readOnly = { readOnlyHint: true, openWorldHint: false };

serveStdio(() => {
  const server = new McpServer({ name: 'monitoring', version: '0.1.0' });
  server.registerTool(
    'list_alerts',
    {
      description: 'List the alerts that fire now, the most severe first. Takes nothing.',
      inputSchema: z.strictObject({}),
      outputSchema: z.object({ alerts: z.array(z.record(z.string(), z.string())) }),
      annotations: { title: 'Alerts', ...readOnly },
    },
    async () => result({ alerts: readState().rolled_back === null ? alerts : [] }),
  );
  server.registerTool(
    'query_metrics',
    {
      description:
        'Read a metric of a service: its value before the latest release, and now. ' +
        'Example: { "service": "checkout", "metric": "error_rate" }.',
      inputSchema: z.strictObject({ service, metric: z.enum(Object.keys(units)).describe('Which metric.') }),
      outputSchema: z.object({
        service: z.string(),
        metric: z.string(),
        unit: z.string(),
        before: z.number(),
        now: z.number(),
      }),
      annotations: { title: 'Metrics', ...readOnly },
    },
    async ({ service: of, metric }) => {
      const [before, since] = metrics[of][metric];
      const now = readState().rolled_back === null ? since : before;
      return result({ service: of, metric, unit: units[metric], before, now });
    },
  );
  server.registerTool(
    'search_logs',
    {
      description:
        'Search the logs of a service for errors of the last half hour, with the customers who met them. ' +
        'Example: { "service": "checkout" }.',
      inputSchema: z.strictObject({ service }),
      outputSchema: z.object({
        service: z.string(),
        errors: z.array(z.object({ at: z.string(), message: z.string(), count: z.int() })),
        affected_customers: z.int(),
        customers: z.array(z.string()),
      }),
      annotations: { title: 'Logs', ...readOnly },
    },
    async ({ service: of }) => result({ service: of, ...logs[of] }),
  );
  return server;
});
