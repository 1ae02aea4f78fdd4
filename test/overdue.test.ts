import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { positionOf, topics } from '@sluice/contracts';
import { claimEnd, errorResponse, returnedTurn, signReturned } from '@sluice/run';
import { createSignatures, newKeySet, readKeySet, writeKeySet } from '@sluice/identity';
import { builtInTools } from '@sluice/packs';
import { defineTool } from '@sluice/tools';
import { ExpirySweep } from '../apps/executor/src/approvals/expiry-sweep.js';
import { OverdueSweep } from '../apps/filter/src/overdue/overdue-sweep.js';
import { audience, issuer, newIssuer } from '../libs/identity/test/issuer.js';
import { caughtUp } from './audit/auditing.js';
import { decide } from './harness/approving.js';
import { startByHand } from './harness/by-hand.js';
import type { ByHand } from './harness/by-hand.js';
import { inOrder, ScriptedModel } from './harness/system.js';
import { replayed } from './replay/replaying.js';

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
    await sleep(3_500);
    return 'done';
  },
});

const agents = builtInTools.filter(({ type }) => type === 'agent');
const configuration = {
  tool: { act: { type: 'act', timeout_seconds: 4 } },
  policy: { allowed_tools: ['act'] },
};
const acting = () => new ScriptedModel(inOrder({ calls: [['core__act', '{}']] }));

/** What a run has until its deadline, and what its end may take behind it, milliseconds. */
const runMs = 1_500;
const soonMs = 6_000;

async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (const until = Date.now() + 60_000; ;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > until) throw new Error('Not within 60 s.');
    await sleep(25);
  }
}

let system: ByHand;
afterEach(() => system.close());

async function begin(model = acting(), more: object = {}): Promise<void> {
  done = 0;
  system = await startByHand({ ...configuration, ...more }, { contracts: [act, ...agents], model });
}

/** Asks, and returns the run’s deadline. */
async function ask(requestId: string, ms = runMs): Promise<number> {
  const deadline = Date.now() + ms;
  await system.request(requestId, { deadline });
  return deadline;
}

/** Nothing was quarantined, and replay and the audit agree with all that is on the log. */
async function expectClean(): Promise<void> {
  expect(await system.all('agent.dead-letters')).toEqual([]);
  const keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
  const decisions = await replayed(system.bus, keys);
  expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  await system.start('audit');
  const report = await caughtUp(system.bus, createSignatures(keys));
  expect(report.findings).toEqual([]);
}

describe('a run whose time is up while the agent is away', () => {
  it('ends within seconds of its deadline, once; the agent that comes back drops the turn quietly', async () => {
    await begin();
    await system.start('filter');
    const deadline = await ask('overdue');
    const response = await system.responseOf('overdue');
    expect(response).toMatchObject({ kind: 'error', error: { code: 'deadline_exceeded' }, iterations: 1 });
    expect(response.endedAt).toBeGreaterThanOrEqual(deadline);
    expect(response.endedAt - deadline).toBeLessThan(soonMs);

    await system.start('agent');
    await system.start('executor');
    await system.caughtUp('agent', topics.toolsets);
    expect(await system.all('agent.responses')).toHaveLength(1);
    expect(await system.all('agent.tool-calls')).toEqual([]);
    expect(system.lines()).not.toContain('quarantined');
    await expectClean();
  });

  it('ends for each of two tenants that gave it the same ids', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-overdue-'));
    try {
      const users = await newIssuer();
      const key_file = join(folder, 'issuer.json');
      writeFileSync(key_file, JSON.stringify(users.jwks));
      await begin(acting(), { identity: { provider: 'jwt', key_file, issuer, audience } });
      await system.start('filter');
      for (const tenant of ['acme', 'other']) {
        const authorization = `Bearer ${await users.token({ sub: tenant, tenant, tool_groups: ['*'] })}`;
        const request = { question: 'Go', request_id: 'same', session_id: 'same', deadline: Date.now() + runMs };
        await system.bus.appendRaw(topics.requests, 'same', Buffer.from(JSON.stringify(request)), { authorization });
      }
      const ends = await eventually(async () => {
        const found = await system.all('agent.responses');
        return found.length === 2 && found;
      });
      expect(ends.map(({ record: { run, error } }) => [run?.principal?.tenantId, error?.code]).toSorted()).toEqual([
        ['acme', 'deadline_exceeded'],
        ['other', 'deadline_exceeded'],
      ]);
      await expectClean();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('ends also if no service lived at its deadline, when the filter comes back', async () => {
    await begin();
    await system.start('filter');
    await ask('nobody', 300);
    await eventually(async () => (await system.all('agent.toolsets')).length === 1);
    await system.stop('filter');
    await sleep(500);
    await system.start('filter');
    expect(await system.responseOf('nobody')).toMatchObject({ error: { code: 'deadline_exceeded' } });
    await expectClean();
  });

  it('ends once where several filters look, and where one takes the turn back again and again', async () => {
    await begin();
    await system.start('filter');
    const { runtime } = system.open;
    const sweeps = ['one', 'other'].map(
      (instance) => new OverdueSweep({ ...runtime, environment: { ...runtime.environment, instance } }),
    );
    await ask('several');
    await system.responseOf('several');
    const [toolset] = await system.all('agent.toolsets');
    if (toolset === undefined) throw new Error('There is no Toolset.');
    const again = {
      topic: topics.steps,
      key: toolset.key,
      record: await signReturned(returnedTurn(toolset.record), system.open.runtime),
    };
    await system.bus.publish([again, again]);
    await system.caughtUp('filter', topics.steps);
    await Promise.all(sweeps.map((sweep) => sweep.close()));
    expect(await system.all('agent.responses')).toHaveLength(1);
    await expectClean();
  });

  it('is not ended before its time, whichever service takes its turn back, and goes on', async () => {
    await begin(new ScriptedModel(() => ({ answer: 'In time.' })));
    await system.start('filter');
    await ask('early', 30_000);
    const toolset = await eventually(async () => (await system.all('agent.toolsets'))[0]);
    const record = await signReturned(returnedTurn(toolset.record), system.open.runtime);
    await system.bus.publish([{ topic: topics.steps, key: 'early', record }]);
    await system.caughtUp('filter', topics.steps);
    expect(await system.all('agent.responses')).toEqual([]);
    await system.start('agent');
    expect(await system.responseOf('early')).toMatchObject({ answer: 'In time.' });
  });
});

describe('a run whose time is up while the executor is away', () => {
  it('ends, and the executor that comes back runs nothing of the turn', async () => {
    await begin();
    await system.start('filter');
    await system.start('agent');
    const deadline = await ask('unexecuted');
    const response = await system.responseOf('unexecuted');
    expect(response.error?.code).toBe('deadline_exceeded');
    expect(response.endedAt - deadline).toBeLessThan(soonMs);
    await system.start('executor');
    await system.caughtUp('executor', topics.toolCalls);
    expect(done).toBe(0);
    expect((await system.all('agent.steps')).flatMap(({ record }) => record.steps)).toEqual([]);
    expect(await system.all('agent.responses')).toHaveLength(1);
    await expectClean();
  });

  it('has the step of an effect that was under way, also where the run had to end before', async () => {
    await begin();
    for (const role of ['filter', 'agent', 'executor'] as const) await system.start(role);
    await ask('under-way', 3_000);
    await eventually(async () => done === 1);
    await system.stop('executor');
    await sleep(5_500);
    // An executor had begun the turn, so it has time to come back: the run has not ended yet.
    expect(await system.all('agent.responses')).toEqual([]);
    const [toolset] = await system.all('agent.toolsets');
    const record = await signReturned(returnedTurn(toolset?.record ?? never()), system.open.runtime);
    await system.bus.publish([{ topic: topics.steps, key: 'under-way', record }]);
    expect(await system.responseOf('under-way')).toMatchObject({ error: { code: 'deadline_exceeded' } });

    await system.start('executor');
    await eventually(async () => (await system.all('agent.steps')).some(({ record: { steps } }) => steps.length === 1));
    const steps = (await system.all('agent.steps')).flatMap((message) => message.record.steps);
    expect(steps.map(({ outcome, reason }) => [outcome, reason])).toEqual([['execution', 'outcome_unknown']]);
    await system.caughtUp('filter', topics.steps);
    expect(await system.all('agent.responses')).toHaveLength(1);
    expect(await system.all('agent.dead-letters')).toEqual([]);
    expect(done).toBe(1);
  });
});

describe('a record that was quarantined', () => {
  /** The keys of the log, but for the executor’s: what it signs nobody accepts. */
  function keysOfAnother(): string {
    const own = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
    const other = newKeySet(Date.now());
    const keys = [
      ...own.keys.filter(({ role }) => role !== 'executor'),
      ...other.keys.filter(({ role }) => role === 'executor'),
    ];
    return writeKeySet({ keys });
  }

  it('in place of the honest one ends its run at the deadline, with an error that says so', async () => {
    await begin(new ScriptedModel(inOrder({ calls: [['core__none', '{}']] })));
    await system.start('filter');
    await system.start('agent');
    await system.start('executor', keysOfAnother());
    await ask('unsigned');
    const response = await system.responseOf('unsigned');
    expect(response.error).toMatchObject({ code: 'record_quarantined', message: expect.stringContaining('turn 1') });
    const dead = (await system.all('agent.dead-letters')).map(({ record }) => record.code);
    expect(dead).toEqual(['continuation_invalid']);
    expect(await system.all('agent.responses')).toHaveLength(1);
  });

  it('beside an honest one ends nothing, and is not what the run’s end says', async () => {
    await begin();
    await system.start('filter');
    await system.start('executor');
    await ask('beside');
    const toolset = await eventually(async () => (await system.all('agent.toolsets'))[0]);
    const { requestId, sessionId, iteration, request, run, groups, configVersion } = toolset.record;
    const forged = { requestId, sessionId, iteration, request, run, groups, configVersion };
    const calls = [{ toolCallId: 'x', tool: 'core__act', arguments: '{}', argumentsBytes: null, providerData: null }];
    const said = { thought: '', calls, omittedCalls: 0, toolChoice: null, model: null, decision: null, call: null };
    const record = { ...forged, ...said, offered: ['core__act'], list: null, grant: null, recordSignature: null };
    await system.bus.publish([{ topic: topics.toolCalls, key: sessionId, record }]);
    await eventually(async () => (await system.all('agent.dead-letters')).length === 1);
    expect(await system.all('agent.responses')).toEqual([]);
    // The agent is away, and that is why it ends.
    expect(await system.responseOf('beside')).toMatchObject({ error: { code: 'deadline_exceeded' } });
    expect(done).toBe(0);
  });
});

describe('a run that is overdue', () => {
  const soon = { everyMs: 100, graceMs: 500, executorGraceMs: 500, againMs: 1_000 };

  it('ends while it waits for an approval and no executor lives; with the executor back nothing is done and nothing ends twice', async () => {
    await begin(acting(), { policy: { allowed_tools: ['act'], approval: { approvers: ['*'] } } });
    for (const role of ['filter', 'agent', 'executor'] as const) await system.start(role);
    await ask('parked');
    await eventually(async () => (await system.all('agent.approvals')).length === 1);
    await system.stop('executor');
    const sweep = new OverdueSweep(system.open.runtime, soon);
    expect(await system.responseOf('parked')).toMatchObject({ error: { code: 'deadline_exceeded' } });
    await sweep.close();

    await system.start('executor');
    const expiring = new ExpirySweep(system.open.runtime);
    await eventually(async () => (await system.all('agent.approvals')).some(({ record }) => record.outcome !== null));
    await system.caughtUp('executor', topics.approvals);
    await expiring.close();
    expect((await system.all('agent.steps')).flatMap(({ record }) => record.steps)).toEqual([]);
    expect(done).toBe(0);
    expect(await system.all('agent.responses')).toHaveLength(1);
    expect(await system.all('agent.dead-letters')).toEqual([]);
  });

  it('is none while its call waits for an approval; approved, it goes on with the time that it had left', async () => {
    await begin(acting(), {
      policy: { allowed_tools: ['act'], approval: { approvers: ['*'] } },
      limits: { run_seconds: 6, tool_seconds: 4 },
    });
    for (const role of ['filter', 'agent', 'executor'] as const) await system.start(role);
    await system.request('waiting', {});
    const message = await eventually(async () => (await system.all('agent.approvals'))[0]);
    const { requested } = message.record;
    if (requested === null) throw new Error('Nothing was asked.');
    const sweep = new OverdueSweep(system.open.runtime, soon);
    const [toolset] = await system.all('agent.toolsets');
    await sleep((toolset?.record.run.deadline ?? 0) + soon.graceMs + soon.executorGraceMs + 1_500 - Date.now());
    expect(await system.all('agent.responses')).toEqual([]);

    await decide(system, { requested, message }, 'approve');
    expect(await system.responseOf('waiting')).toMatchObject({ kind: 'answer', run: { parkedMs: expect.any(Number) } });
    await sweep.close();
    expect(done).toBe(1);
    await expectClean();
  });

  it('ends though a client wrote an end of it that no service signed', async () => {
    await begin();
    await system.start('filter');
    await ask('hushed', 3_000);
    const { record } = await eventually(async () => (await system.all('agent.toolsets'))[0]);
    const { requestId, sessionId, run } = record;
    const about = { request: record.request, run, configVersion: record.configVersion };
    const error = { code: 'model_failed', message: 'Forged.' } as const;
    const forged = errorResponse({ requestId, sessionId }, error, about, run.deadline + 60_000);
    await system.bus.publish([{ topic: topics.responses, key: sessionId, record: forged }]);
    const ends = await eventually(async () => {
      const all = await system.all('agent.responses');
      return all.length > 1 && all.map((one) => one.record.error?.code);
    });
    expect(ends).toEqual(['model_failed', 'deadline_exceeded']);
  });

  it('ends, and so does the run that it answers as an agent', async () => {
    const model = new ScriptedModel(async ({ question }) => {
      if (question === 'Go') return { calls: [['core__helper', '{"question":"Who?"}']] };
      await sleep(30_000, undefined, { ref: false });
      return { answer: 'Too late.' };
    });
    const helper = { type: 'agent', description: 'Helps', group: ['help'], agent: { group: ['other'] } };
    await begin(model, {
      tool: { act: { type: 'act', group: ['other'] }, helper },
      policy: { allowed_tools: ['act', 'helper'], allowed_agents: ['helper'] },
    });
    for (const role of ['filter', 'agent', 'executor'] as const) await system.start(role);
    // The agent goes away when it has begun the other run.
    await system.request('caller', { deadline: Date.now() + 2_500, group: ['help', 'other'] });
    await eventually(async () => (await system.all('agent.toolsets')).length === 2);
    await system.stop('agent');
    await eventually(async () => (await system.all('agent.responses')).length === 2);
    const ends = (await system.all('agent.responses')).map(({ record }) => [record.requestId, record.error?.code]);
    expect(ends).toEqual([
      [expect.stringMatching(/^agent-/), 'deadline_exceeded'],
      ['caller', 'deadline_exceeded'],
    ]);
    const [step] = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(step).toMatchObject({ action: 'helper', reason: 'agent_budget_used' });
    await system.start('agent');
    await system.caughtUp('agent', topics.toolsets);
    expect(await system.all('agent.responses')).toHaveLength(2);
    await expectClean();
  });

  it('ends though the filter was killed that had begun to see to it, and though one was killed before it had committed the end', async () => {
    await begin();
    await system.start('filter');
    const { ledger } = system.open.runtime;
    // Time enough to be granted tools, on a busy machine as well.
    const deadline = await ask('killed', 5_000);
    await ledger.claim({ key: 'overdue/killed/', owner: 'the one that was killed', now: Date.now(), ttlMs: 11_000 });
    const toolset = await eventually(async () => (await system.all('agent.toolsets'))[0]);
    await system.stop('filter');
    await sleep(Math.max(0, deadline + 200 - Date.now()));
    const record = await signReturned(returnedTurn(toolset.record), system.open.runtime);
    await system.bus.publish([{ topic: topics.steps, key: 'killed', record }]);
    const [note] = await system.all('agent.steps');
    if (note === undefined) throw new Error('It is not on the log.');
    await claimEnd({ requestId: 'killed', tenant: 'local', attempt: null }, positionOf(note), system.open.runtime);
    await ask('killed-later', 300);
    await ledger.claim({
      key: 'overdue/killed-later/',
      owner: 'the one that was killed',
      now: Date.now(),
      ttlMs: 4_000,
    });
    const sweep = new OverdueSweep(system.open.runtime, soon);
    await system.start('filter');
    for (const run of ['killed', 'killed-later'])
      expect(await system.responseOf(run)).toMatchObject({ error: { code: 'deadline_exceeded' } });
    await sweep.close();
    expect(await system.all('agent.responses')).toHaveLength(2);
    await expectClean();
  });

  it('is what the filter granted: a forged Toolset with another deadline ends nothing', async () => {
    await begin(new ScriptedModel(() => ({ answer: 'In time.' })));
    await system.start('filter');
    await ask('honest', 30_000);
    const { key, record } = await eventually(async () => (await system.all('agent.toolsets'))[0]);
    const forged = { ...record, run: { ...record.run, deadline: 1 } };
    await system.bus.publish([{ topic: topics.toolsets, key, record: forged }]);
    const sweep = new OverdueSweep(system.open.runtime, soon);
    await sleep(1_500);
    await sweep.close();
    expect(await system.all('agent.steps')).toEqual([]);
    expect(await system.all('agent.responses')).toEqual([]);
    await system.start('agent');
    expect(await system.responseOf('honest')).toMatchObject({ answer: 'In time.' });
  });
});

function never(): never {
  throw new Error('It is not on the log.');
}
