#!/usr/bin/env node
// An MCP server over standard input and output: the page on which customers read about an incident.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { readState, result, writeState } from './world.mjs';

serveStdio(() => {
  const server = new McpServer({ name: 'status-page', version: '0.1.0' });
  server.registerTool(
    'post_update',
    {
      description:
        'Post an update on the public status page. ' +
        'Example: { "status": "resolved", "text": "Payments work again since 09:58." }.',
      inputSchema: z.strictObject({
        status: z.enum(['investigating', 'identified', 'resolved']).describe('What customers see first.'),
        text: z.string().min(10).max(500).describe('What happened, in a sentence or two, for customers.'),
      }),
      outputSchema: z.object({ posted: z.boolean(), updates: z.int() }),
      annotations: { title: 'Post an update', readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    async ({ status, text }) => {
      const state = readState();
      const updates = [...state.updates, { status, text }];
      writeState({ ...state, updates });
      return result({ posted: true, updates: updates.length });
    },
  );
  return server;
});
