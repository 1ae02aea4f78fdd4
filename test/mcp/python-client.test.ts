import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { workflowConfiguration } from '../harness/configurations.js';
import { startMcpSystem } from './with-mcp.js';

/** A Python with the package `mcp`: that of the variable, or the one in the path. */
const python = process.env['SLUICE_PYTHON_MCP'] ?? 'python3';

const program = `
import asyncio, json, sys
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

async def main():
    async with streamablehttp_client(sys.argv[1]) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            good = await session.call_tool("knowledge-query", {"sparql": "SELECT * WHERE { ?a ?b ?c } LIMIT 1"})
            after = [tool.name for tool in (await session.list_tools()).tools]
            bad = await session.call_tool("text-completion", {"prompt": "x"})
            print(json.dumps({"names": names, "good": good.isError, "after": after, "bad": bad.isError}))

asyncio.run(main())
`;

function hasClient(): boolean {
  try {
    execFileSync(python, ['-c', 'from mcp.client.streamable_http import streamablehttp_client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('Python’s MCP client', () => {
  const title = 'lists, calls and is refused in another state (M-01)';
  const test = async (): Promise<void> => {
    const system = await startMcpSystem(workflowConfiguration());
    try {
      const { stdout } = await promisify(execFile)(python, ['-c', program, system.mcp.url]);
      expect(JSON.parse(stdout)).toEqual({
        names: ['knowledge-query', 'text-completion'],
        good: false,
        after: expect.arrayContaining(['graph-update', 'text-completion']),
        bad: expect.any(Boolean),
      });
    } finally {
      await system.close();
    }
  };
  if (hasClient()) it(title, test);
  else it.skip(`${title} (skipped: no Python with the package mcp 1.x; SLUICE_PYTHON_MCP names one)`, test);
});
