#!/usr/bin/env node
// An MCP server over standard input and output: the releases of the shop, a way back to an earlier one, and a tool that
// no incident needs.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { readState, releases, result, services, writeState } from './world.mjs';

const service = z.enum(services).describe('Which service.');

serveStdio(() => {
  const server = new McpServer({ name: 'deployments', version: '0.1.0' });
  server.registerTool(
    'list_releases',
    {
      description: 'List the latest releases of a service, the newest first. Example: { "service": "checkout" }.',
      inputSchema: z.strictObject({ service }),
      outputSchema: z.object({ releases: z.array(z.record(z.string(), z.string())) }),
      annotations: { title: 'Releases', readOnlyHint: true, openWorldHint: false },
    },
    async ({ service: of }) => result({ releases: releases.filter((release) => release.service === of) }),
  );
  server.registerTool(
    'roll_back',
    {
      description:
        'Roll a service back to an earlier release. Example: { "service": "checkout", "version": "4.17.2" }.',
      inputSchema: z.strictObject({ service, version: z.string().describe('The release to go back to.') }),
      outputSchema: z.object({ service: z.string(), version: z.string(), at: z.string() }),
      annotations: { title: 'Roll back', readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    },
    async ({ service: of, version }) => {
      const known = releases.filter((release) => release.service === of).slice(1);
      if (!known.some((release) => release.version === version))
        throw new Error(
          `${of} cannot go back to ${version}. Give one of ${known.map((one) => one.version).join(', ') || 'none'}.`,
        );
      writeState({ ...readState(), rolled_back: version });
      return result({ service: of, version, at: '09:58' });
    },
  );
  server.registerTool(
    'delete_deployment',
    {
      description: 'Delete the deployment of a service, with all its instances. Example: { "service": "search" }.',
      inputSchema: z.strictObject({ service }),
      outputSchema: z.object({ service: z.string(), deleted: z.boolean() }),
      annotations: { title: 'Delete a deployment', readOnlyHint: false, destructiveHint: true },
    },
    async ({ service: of }) => {
      writeState({ ...readState(), deleted: of });
      return result({ service: of, deleted: true });
    },
  );
  return server;
});
