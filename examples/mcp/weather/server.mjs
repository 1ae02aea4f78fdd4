#!/usr/bin/env node
// A sample MCP server in front of a weather API: `npx .` answers from sample-data.json, `npx . --config FILE` asks
// any HTTP API that answers with JSON. The file says where it is and which of its members are wanted; README.md has
// one.
import { parseArgs } from 'node:util';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { openSource } from './source.mjs';

const { values } = parseArgs({ options: { config: { type: 'string' } } });
const source = open();

serveStdio(() => {
  const server = new McpServer({ name: 'weather', version: '0.1.0' });
  server.registerTool(
    'weather_lookup',
    {
      description:
        'Get current weather for a location. Takes the name of a city or coordinates, returns what the weather service says of it and ' +
        'which service that is. Example: { "location": "Vienna" }.',
      inputSchema: z.strictObject({
        location: z.string().trim().min(1).max(100).describe('City name or coordinates'),
      }),
      outputSchema: z.object({
        location: z.string(),
        source: z.string().describe('The service’s host, or “sample data”.'),
        weather: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
      }),
      annotations: { title: 'Weather Lookup', readOnlyHint: true, destructiveHint: false, openWorldHint: true },
    },
    async ({ location }) => {
      const weather = await source.lookUp(location);
      const facts = Object.entries(weather).map(([name, value]) => `- ${name}: ${value}`);
      return {
        content: [{ type: 'text', text: [`Weather in ${location} (${source.name}):`, ...facts].join('\n') }],
        structuredContent: { location, source: source.name, weather },
      };
    },
  );
  return server;
});

function open() {
  try {
    return openSource(values.config);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
