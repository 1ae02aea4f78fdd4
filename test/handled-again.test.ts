import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { HandlerContext, Incoming } from '@sluice/bus';
import { openSqliteLedger } from '@sluice/ledger';
import { defineTool } from '@sluice/tools';
import { ExecutorService } from '../apps/executor/src/executor.service.js';
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
  call: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
};

describe('a turn that the same process handles again, since its partition was lost and taken over anew (DESIGN 4.4)', () => {
  let system: ToolSystem;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-again-'));
    system = await startWithTools(
      { tool: { act: { type: 'act', timeout_seconds: 1 } }, policy: { allowed_tools: ['act'] } },
      { contracts: [act], hub: noServers, model: new ScriptedModel(inOrder({ calls: [['core__act', '{}']] })) },
    );
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
    carried: '',
    carry: () => undefined,
  });

  it('does not do its effect again: nobody knows how the first attempt ended', async () => {
    await system.ask('r');
    const [message] = await system.all('agent.tool-calls');
    // A ledger that knows nothing of the run, so that the turn is as it was before it was taken.
    const ledger = await openSqliteLedger({ file: join(folder, 'ledger.sqlite') });
    const executor = new ExecutorService({ ...system.open.runtime, ledger }, system.toolbox);
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
