import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';
import { eventually } from '../harness/eventually.js';
import { replayed } from '../replay/replaying.js';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/counting.mjs');
const configuration = (allowed = 'look, fail, change', more = ''): string => `
tool:
  look: { type: mcp-tool, group: [g] }
  fail: { type: mcp-tool, group: [g] }
  change: { type: mcp-tool, group: [g] }
mcp:
  servers: { counting: { command: node, args: ["${server}"] } }
  tools:
    look: { server: counting, tool: look, effect: read_only, idempotent: true, redaction: whole, cache_seconds: 600 }
    fail: { server: counting, tool: fail, effect: read_only, idempotent: true, redaction: whole, cache_seconds: 600 }
    change: { server: counting, tool: change, effect: external_side_effect, redaction: whole }
policy:
  allowed_tools: [${allowed}]
  ${more}
`;
const look = (what: string): readonly [string, string] => ['mcp__counting__look', JSON.stringify({ what })];
const fail = ['mcp__counting__fail', '{}'] as const;
const change = ['mcp__counting__change', '{}'] as const;

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function started(written: string) {
  const model = new ScriptedModel(inOrder());
  const opened = (system = await startSystem(written, model));
  const play = async (...calls: (readonly [string, string])[]) => {
    model.script = inOrder({ calls } satisfies Said);
    const { history } = await opened.ask({ group: ['g'] });
    return history.map(({ observation, outcome, reason }) => (outcome === 'ok' ? observation : (reason ?? outcome)));
  };
  return { opened, play };
}

describe('results of MCP tools that are given again (M-82)', () => {
  it('answer equal calls of other runs, until a call with an effect; failures never do; steps, audit and metrics say so', async () => {
    const { opened, play } = await started(configuration());
    expect(await play(look('a'), look('b'))).toEqual(['look a 1', 'look b 2']);
    expect(await play(look('a'), fail, fail)).toEqual(['look a 1', 'user_error', 'user_error']);
    expect(await play(look('b'), change, look('b'), look('a'))).toEqual([
      'look b 2',
      'change  5',
      'look b 6',
      'look a 7',
    ]);

    const steps = (await opened.all('agent.steps')).flatMap(({ record }) => record.steps);
    const cached = steps.filter(({ cachedAt }) => cachedAt !== null);
    expect(cached.map(({ observation }) => observation)).toEqual(['look a 1', 'look b 2']);
    const [first] = steps;
    expect(cached[0]?.cachedAt).toBeGreaterThanOrEqual(first?.startedAt ?? Infinity);
    expect(cached[0]?.cachedAt).toBeLessThanOrEqual(first?.endedAt ?? 0);
    // Each call has a hash of its own over the same result.
    expect(cached[0]?.resultHash).toMatch(/./);
    expect(cached[0]?.resultHash).not.toBe(first?.resultHash);
    const histories = (await opened.all('agent.responses')).flatMap(({ record }) => record.history);
    expect(histories.every(({ cachedAt }) => cachedAt === null)).toBe(true);

    expect(await opened.metric('sluice_mcp_cached_calls_total', { server: 'counting', outcome: 'hit' })).toBe(2);
    expect(await opened.metric('sluice_mcp_cached_calls_total', { server: 'counting', outcome: 'miss' })).toBe(6);
    const told = await eventually(
      async () => (await opened.all('agent.audit')).map(({ record }) => JSON.parse(record.details) as object),
      (entries) => entries.filter((entry) => 'cached_at' in entry).length === 2,
    );
    expect(told).toContainEqual(
      expect.objectContaining({ observation: 'look a 1', cached_at: new Date(cached[0]?.cachedAt ?? 0).toISOString() }),
    );
  });

  it('are decided again in a replay as they were recorded', async () => {
    const { opened, play } = await started(configuration());
    await play(look('a'));
    expect(await play(look('a'), change)).toEqual(['look a 1', 'change  2']);
    const found = await replayed(opened.bus, null);
    expect(found.length).toBeGreaterThan(4);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('pass policy first: a limit per minute counts them', async () => {
    const { play } = await started(configuration('look', 'budgets: { tools: { look: { calls_per_minute: 2 } } }'));
    expect(await play(look('a'), look('a'), look('a'))).toEqual(['look a 1', 'look a 1', 'rate_limited']);
  });

  it('are held in memory alone, so a start begins afresh', async () => {
    const { opened, play } = await started(configuration());
    await play(look('a'));
    expect(await play(look('a'), look('b'))).toEqual(['look a 1', 'look b 2']);
    system = await opened.restart();
    const model = await system.ask({ group: ['g'] });
    expect(model.history.map(({ observation }) => observation)).toEqual(['look a 1', 'look b 2']);
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.at(-1)?.cachedAt).toBeNull();
  });
});
