import { expect, it } from '@jest/globals';
import type { Incoming, LogReader } from '@sluice/bus';
import { toolNames } from '@sluice/replay';

const never = new AbortController().signal;

/** A log with these configurations. */
function logOf(...configurations: readonly string[]): LogReader {
  const read = async function* () {
    for (const configuration of configurations)
      yield await Promise.resolve({ record: { version: 'c-0', configuration, parts: [] } } as unknown as Incoming);
  };
  return { read } as unknown as LogReader;
}

it('a tool of an MCP server is found by its key and by its id, also where its name at the server is another', async () => {
  const text = (...tools: readonly object[]) => JSON.stringify({ tools });
  const log = logOf(
    text({ key: 'stop', id: 'mcp__analysis__reset-workflow' }, { key: 'now', id: 'core__now' }),
    'no configuration at all',
    '{}',
    text({ key: 'stop', id: 'mcp__other__reset' }),
  );
  const all = ['mcp__analysis__reset-workflow', 'mcp__other__reset', 'stop'];
  expect([...(await toolNames(log, 'stop', never))].sort()).toEqual(all);
  expect([...(await toolNames(log, 'mcp__other__reset', never))].sort()).toEqual(['mcp__other__reset', 'stop']);
  // What no configuration knows may still be what a model wrote.
  expect(await toolNames(log, 'reset-workflow', never)).toEqual(['reset-workflow']);
});
