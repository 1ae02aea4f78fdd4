import { afterEach, describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { pinOf, ToolHeldBackError, ToolUnavailableError } from '@sluice/core';
import type { OfferedTool } from '@sluice/core';
import { createToolSource } from '@sluice/sources';
import type { McpHub } from '@sluice/hub';
import { sha256 } from '../../sources/test/configured.js';
import { callHostile, closeHubs, key, offeredBy, openHostile } from './hostile-hub.js';
import { until, whatIsThrown } from './waiting.js';

const noFiles = { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] };
afterEach(closeHubs);

describe('an MCP server’s tools before anybody allowed them (T-21a, T-21b, T-21c, M-58)', () => {
  const compiled = (allowed: string[], tools: readonly OfferedTool[]) =>
    compileConfiguration(
      {
        tool: { work: { type: 'mcp-tool' }, secret: { type: 'mcp-tool' } },
        policy: { allowed_tools: allowed },
        mcp: {
          servers: { hostile: { command: 'node' } },
          tools: {
            work: { server: 'hostile', tool: 'work', redaction: 'whole' },
            secret: { server: 'hostile', tool: 'secret', redaction: 'whole' },
          },
        },
      },
      { types: [], offers: [{ server: 'hostile', tools }], digest: sha256, files: noFiles },
    ).configuration;

  it('are none that can be called: neither the server nor `*` allows one, only its own name does (K-57)', async () => {
    const { hub } = openHostile('none');
    const tools = await offeredBy(hub);
    const callable = (allowed: string[]): string[] => {
      const configuration = compiled(allowed, tools);
      if (configuration === null) return [];
      const source = createToolSource(configuration, { contracts: [], mcp: hub });
      return ['work', 'secret', 'result'].filter((name) => source.getBoundTool(`mcp__hostile__${name}`) !== undefined);
    };
    expect(callable([])).toEqual([]);
    expect(callable(['*'])).toEqual([]);
    expect(callable(['hostile'])).toEqual([]);
    expect(callable(['work'])).toEqual(['work']);
  });

  it('have the effect of the worst kind, whatever they say of themselves, until the configuration says otherwise', () => {
    const claims = {
      name: 'work',
      description: '',
      inputSchema: { type: 'object' },
      outputSchema: null,
      annotations: { readOnlyHint: true },
    };
    expect(compiled(['work'], [claims])?.tools[0]?.spec?.effect).toBe('external_side_effect');
  });
});

describe('a tool that changes after it was allowed (T-21c, K-60)', () => {
  const pinned = async (hub: McpHub) => {
    const tool = (await offeredBy(hub)).find(({ name }) => name === 'work');
    return pinOf(tool as OfferedTool, sha256);
  };

  it('is held back at once when its server says so, reported once, and its neighbours are not', async () => {
    const { hub, changed, logged } = openHostile('changes');
    const pin = await pinned(hub);
    expect(await callHostile(hub, 'work', { pin })).toBe('worked');
    await callHostile(hub, 'change');
    await until(() => changed.length > 0);
    const options = { signal: new AbortController().signal, timeoutMs: 10_000, pin };
    await expect(hub.connect('hostile', 'work', options)).rejects.toThrow(ToolHeldBackError);
    for (let time = 0; time < 2; time++) {
      const error = await whatIsThrown(callHostile(hub, 'work', { pin }));
      expect(error).toBeInstanceOf(ToolHeldBackError);
      expect(error).toBeInstanceOf(ToolUnavailableError);
    }
    expect(logged.filter((line) => line.includes('held back'))).toEqual([expect.stringMatching(/"work"/)]);
    expect(await callHostile(hub, 'change')).toBe('changed');
  });

  it('is held back when it comes back as another after a loss, even without a notification', async () => {
    const { hub } = openHostile('names');
    const other = await callHostile(hub, 'work', { pin: '0'.repeat(64) }).catch((error: unknown) => error);
    expect(other).toBeInstanceOf(ToolHeldBackError);
  });

  it('is held back where two have its name', async () => {
    const { hub } = openHostile('names');
    const [, twice] = await offeredBy(hub);
    expect(await whatIsThrown(callHostile(hub, 'twice', { pin: pinOf(twice as OfferedTool, sha256) }))).toBeInstanceOf(
      ToolHeldBackError,
    );
  });
});

describe('the key that a server was given (E-09)', () => {
  it('is hidden in what it says when it does not start', async () => {
    const { hub, logged } = openHostile('prints-its-key');
    const [offer] = await hub.discover();
    expect(offer).toMatchObject({ error: expect.stringContaining('[hidden] is not valid') });
    const error = (await whatIsThrown(callHostile(hub))) as Error;
    const everything = JSON.stringify([offer, logged, hub.status(), error.message, (error.cause as Error).message]);
    expect(everything).not.toContain(key);
    expect(everything).not.toContain('\\u001b');
  });

  it('is hidden in its errors and its results', async () => {
    const { hub } = openHostile('none');
    expect(((await whatIsThrown(callHostile(hub, 'secret'))) as Error).message).toBe('My key is [hidden]');
    expect(await callHostile(hub, 'result')).toEqual({ key: '[hidden]', list: ['[hidden]'] });
  });
});
