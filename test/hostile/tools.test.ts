import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtInTools } from '@sluice/packs';
import { startWithTools } from '../harness/with-tools.js';
import type { ToolSystem } from '../harness/with-tools.js';
import { ScriptedModel } from '../harness/system.js';
import { hostileTools, marker } from './tools.js';

const types = hostileTools.map(([, { type }]) => type);
const clock = builtInTools.filter(({ type }) => type === 'get_current_time');
const noServers = {
  discover: async () => [],
  connect: () => Promise.reject(new Error('There are no servers.')),
  call: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
};

/** One run a tool: the hostile one, then one that works, then the answer; the request's id says which. */
const model = new ScriptedModel(({ history }) => {
  if (history.length >= 2) return { answer: 'done' };
  return {
    calls: [
      [history.length === 0 ? wanted : 'core__get_current_time', history.length === 0 ? '{"list":[1,2,3]}' : '{}'],
    ],
  };
});
let wanted = '';

describe('hostile tools, through the whole loop (K-12)', () => {
  let system: ToolSystem;
  const escaped: unknown[] = [];
  const onRejection = (reason: unknown): void => void escaped.push(reason);
  beforeAll(async () => {
    process.on('unhandledRejection', onRejection);
    const tool = Object.fromEntries([...types, 'get_current_time'].map((type) => [type, { type, timeout_seconds: 1 }]));
    system = await startWithTools(
      { tool, policy: { allowed_tools: ['*'] } },
      { contracts: [...hostileTools.map(([, contract]) => contract), ...clock], hub: noServers, model },
    );
  });
  afterAll(async () => {
    await system.close();
    process.off('unhandledRejection', onRejection);
  });

  it.each(hostileTools.map(([does, { type }, outcome, reason]) => [does, type, outcome, reason] as const))(
    'one that %s: %s is a step with its code, and the run and the executor go on (P-08, P-09, P-10, E-04, E-05, E-06, E-08)',
    async (_, type, outcome, reason) => {
      wanted = `core__${type}`;
      const before = process.memoryUsage().rss;
      const response = await system.ask(type);
      expect(response).toMatchObject({ kind: 'answer', answer: 'done' });
      expect(response.history.map((step) => [step.action, step.outcome, step.reason])).toEqual([
        [type, outcome, reason],
        ['get_current_time', 'ok', null],
      ]);
      const [step] = response.history;
      expect(step?.observation.length).toBeLessThanOrEqual(4_097);
      expect(step?.arguments).toBe('{"list":[1,2,3]}');
      // Half a gigabyte of Latin-1 is the tool's own; what the executor adds to it is not another one.
      expect(process.memoryUsage().rss - before).toBeLessThan(800 * 1_048_576);
    },
  );

  it('leave no exception’s text in any topic, and in the one line for the operator alone (E-09), no rejection unheard, no prototype changed', async () => {
    await sleep(600); // the one that rejects after its time
    const everything = await system.all(
      'agent.requests', 'agent.toolsets', 'agent.tool-calls', 'agent.steps', 'agent.responses', 'agent.progress', 'agent.dead-letters',
    ); // prettier-ignore
    expect(everything.filter(({ topic }) => topic === 'agent.steps')).toHaveLength(2 * types.length);
    expect(JSON.stringify(everything)).not.toContain(marker);
    const others = system
      .lines()
      .split('\n')
      .filter((line) => !line.includes('"msg":"a tool failed'));
    expect(others.join('\n')).not.toContain(marker);
    expect(everything.filter(({ topic }) => topic === 'agent.dead-letters')).toEqual([]);
    expect(escaped).toEqual([]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('each give one result event, and one start before it (P-07, P-11, T-05a)', async () => {
    const events = (await system.all('agent.progress')).map(({ record }) => record);
    for (const type of types) {
      const kinds = events.filter((event) => event.requestId === type && event.tool === type).map(({ kind }) => kind);
      expect(kinds).toEqual(['tool_call_start', 'tool_call_result']);
    }
  });
});
