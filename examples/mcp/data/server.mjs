#!/usr/bin/env node
// A sample MCP server with one tool that computes and touches nothing outside of itself.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { analyzeJson, longestText } from './analyze.mjs';

serveStdio(() => {
  const server = new McpServer({ name: 'data', version: '0.1.0' });
  server.registerTool(
    'analyze_json',
    {
      title: 'JSON Analysis',
      description:
        'Analyze and summarize the structure of a JSON text: its size, how deep it is nested, how many values of each type it holds, and the ' +
        'paths of its members with their types. Takes the JSON as text, returns the summary. ' +
        'Example: { "json_data": "{\\"users\\":[{\\"name\\":\\"Ann\\"}]}" }.',
      inputSchema: z.strictObject({
        json_data: z.string().max(longestText).describe('JSON string to analyze, at most 1,000,000 characters.'),
      }),
      outputSchema: z.object({
        type: z.string().describe('The type of the whole.'),
        bytes: z.int().describe('The length of the text in UTF-8.'),
        depth: z.int().describe('Levels of nesting; 0 for a plain value.'),
        counts: z.record(z.string(), z.int()).describe('How many values of each type there are.'),
        paths: z
          .array(z.object({ path: z.string(), types: z.array(z.string()), count: z.int() }))
          .describe('Where values stand, with [] for each item of a list.'),
        paths_left_out: z.int().describe('Paths beyond the first 200.'),
      }),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ json_data }) => {
      const summary = analyzeJson(json_data);
      return { content: [{ type: 'text', text: JSON.stringify(summary) }], structuredContent: summary };
    },
  );
  return server;
});
