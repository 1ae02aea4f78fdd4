import { afterEach, expect, it } from '@jest/globals';
import { z } from 'zod';
import { topics } from '@sluice/contracts';
import type { AgentStepResult } from '@sluice/contracts';
import { defineTool } from '@sluice/tools';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { startByHand } from '../harness/by-hand.js';
import type { ByHand } from '../harness/by-hand.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel } from '../harness/system.js';
import { newClient } from './with-mcp.js';

let done = 0;
const act = defineTool({
  ...{ type: 'act', description: 'Acts', effect: 'external_side_effect', redaction: { whole: true } },
  ...{ capabilities: [], input: z.strictObject({}), output: z.string(), repeatable: false, requiresConnection: false },
  execute: () => Promise.resolve(`act ${++done}`),
});

let system: ByHand;
let mcp: Awaited<ReturnType<typeof startMcp>>;
afterEach(async () => {
  await mcp.close();
  await system.close();
});

it.each<[string, (step: AgentStepResult) => AgentStepResult]>([
  ['in one hop', (step) => step],
  ['of a turn', (step) => ({ ...step, call: null })],
  ['of a model’s turn', (step) => ({ ...step, call: null, next: { ...step.next, call: null } })],
])('a step %s that no executor signed is no answer of a call', async (_, change) => {
  done = 0;
  const model = new ScriptedModel(() => ({ answer: 'No model is asked.' }));
  system = await startByHand(
    { tool: { act: { type: 'act' } }, policy: { allowed_tools: ['act'] } },
    { contracts: [act], model },
  );
  mcp = await startMcp(system.open.runtime);
  await system.start('filter');
  await system.start('executor');
  const client = await newClient(mcp.url);
  const call = async () => (await client.callTool({ name: 'act', arguments: {} })).content;
  expect(await call()).toMatchObject([{ text: 'act 1' }]);
  await system.stop('executor');
  const answer = call();
  const [, asked] = await eventually(
    () => system.all('agent.calls'),
    ({ length }) => length === 2,
  );
  const [honest] = await system.all('agent.steps');
  if (asked === undefined || honest === undefined) throw new Error('It is not on the log.');
  const { requestId, sessionId } = asked.record;
  const ids = { requestId: requestId ?? '', sessionId: sessionId ?? '' };
  const { record } = honest;
  const steps = record.steps.map((step) => ({ ...step, observation: 'Forged.' }));
  const forged = change({ ...record, ...ids, steps, next: { ...record.next, ...ids } });
  await system.bus.publish([{ topic: topics.steps, key: ids.sessionId, record: forged }]);
  await system.caughtUp('filter', topics.steps);
  await system.start('executor');
  expect(await answer).toMatchObject([{ text: 'act 2' }]);
  await client.close();
});
