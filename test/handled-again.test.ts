import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Clock, Ledger, Step, ToolSource } from '@sluice/core';
import type { Bus, HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { openSqliteLedger } from '@sluice/ledger';
import { defineTool } from '@sluice/tools';
import { ExecutorService } from '../apps/executor/src/executor.service.js';
import type { Toolbox } from '../apps/executor/src/toolbox.js';
import { startWithTools } from './harness/with-tools.js';
import type { ToolSystem } from './harness/with-tools.js';
import { inOrder, ScriptedModel } from './harness/system.js';

let done = 0;
const act = defineTool({
  type: 'act',
  description: 'Does something that cannot be undone',
  input: z.strictObject({}),
  output: z.string(),
  effect: 'external_side_effect',
  redaction: { whole: true },
  capabilities: [],
  repeatable: false,
  requiresConnection: false,
  execute: async () => {
    done++;
    await sleep(50);
    return 'done';
  },
});
const noServers = {
  discover: async () => [],
  connect: () => Promise.reject(new Error('There are no servers.')),
  call: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
};

/** The log as it is while the turn is under way: what it led to is not on it. */
const withoutItsEnd = { read: async function* () {} } as unknown as Bus;

const configured = (policy: object): object => ({
  tool: { act: { type: 'act', timeout_seconds: 1 } },
  policy: { allowed_tools: ['act'], ...policy },
});

describe('a turn that the same process handles again, since its partition was lost and assigned again', () => {
  let system: ToolSystem;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-again-'));
    const model = new ScriptedModel(inOrder({ calls: [['core__act', '{}']] }));
    system = await startWithTools(configured({}), { contracts: [act], hub: noServers, model });
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true });
  });

  const contextWith = (signal: AbortSignal): HandlerContext => ({
    signal,
    attempt: 1,
    emit: () => undefined,
    afterCommit: () => undefined,
    credentialUsed: () => undefined,
    onRetry: () => undefined,
    carried: '',
    carry: () => undefined,
  });

  const noTools = { getBoundTool: () => undefined, close: async () => undefined } as unknown as ToolSource;
  /** Behind the run’s time, and before the turn’s grant expires. */
  const late = { now: () => Date.now() + 400_000 };

  it.each<[string, string, () => Promise<{ clock?: Clock; source?: ToolSource }>]>([
    ['the time of its run is over', 'deadline', async () => ({ clock: late })],
    ['its tool cannot be reached', 'not_bound', async () => ({ source: noTools })],
    ['the policy of today does not allow its tool', 'not_allowed', async () => (await system.apply(configured({ allowed_tools: [] })), {})],
    ['the policy of today wants an approval', 'approval', async () => (await system.apply(configured({ approval: { effects: ['external_side_effect'], approvers: ['user:ann'] } })), {})],
  ])('reports the result of its effect also where %s; what has not begun is refused', async (_, reason, change) => {
    await system.apply(configured({}));
    const id = `r-${reason}`;
    await system.ask(id);
    const message = (await system.all('agent.tool-calls')).find(({ record }) => record.requestId === id);
    const handle = async (ledger: Ledger, { clock, source }: { clock?: Clock; source?: ToolSource } = {}) => {
      const runtime = { ...system.open.runtime, ledger, bus: withoutItsEnd, ...(clock && { clock }) };
      const other = source === undefined ? {} : { source: { value: async () => source } };
      const toolbox = Object.create(system.toolbox, other) as Toolbox;
      const executor = new ExecutorService(runtime, toolbox);
      const context = contextWith(new AbortController().signal);
      const [output] = await executor.execute(message as typeof message & object, context);
      return output;
    };
    const [ledger, unbegun] = await Promise.all(
      ['begun', 'unbegun'].map((name) => openSqliteLedger({ file: join(folder, `${reason}-${name}.sqlite`) })),
    ) as unknown as [Ledger, Ledger];
    done = 0;
    const first = stepOf(await handle(ledger));
    expect([first, done]).toEqual([expect.objectContaining({ outcome: 'ok', observation: 'done' }), 1]);
    const changed = await change();

    const again = stepOf(await handle(ledger, changed));
    expect(again).toMatchObject({ outcome: 'ok', observation: 'done', reason: null });
    expect(Math.abs((again?.startedAt ?? 0) - (first?.startedAt ?? 0))).toBeLessThan(200);

    const refused = await handle(unbegun, changed);
    if (reason === 'approval') expect(refused?.topic).toBe('agent.approvals');
    else expect(stepOf(refused)).toMatchObject({ reason });
    expect(done).toBe(1);
    await Promise.all([ledger.close(), unbegun.close()]);
  }); // prettier-ignore

  it('does not do its effect again: it is unknown how the first attempt ended', async () => {
    await system.apply(configured({}));
    await system.ask('r');
    const message = (await system.all('agent.tool-calls')).find(({ record }) => record.requestId === 'r');
    // A ledger that knows nothing of the run, so that the turn is as it was before it was taken.
    const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
    const executor = new ExecutorService({ ...system.open.runtime, ledger, bus: withoutItsEnd }, system.toolbox);
    const handle = (signal: AbortSignal) =>
      executor.execute(message as Incoming<'agent.tool-calls'>, contextWith(signal));
    done = 0;
    const lost = new AbortController();
    const first = handle(lost.signal);
    for (const until = Date.now() + 10_000; done === 0 && Date.now() < until;) await sleep(1);
    lost.abort(new Error('The partition was lost.'));
    await expect(first).rejects.toThrow('The partition was lost.');

    const [output] = await handle(new AbortController().signal);
    expect(output?.record).toMatchObject({ steps: [{ outcome: 'execution', reason: 'outcome_unknown' }] });
    expect(done).toBe(1);
    await ledger.close();
  });
});

/** The turn’s only step. */
function stepOf(output: Outgoing | undefined): Step | undefined {
  if (output?.topic !== 'agent.steps') throw new Error(`It went to ${output?.topic}.`);
  const [step] = (output.record as { steps: readonly Step[] }).steps;
  return step;
}
