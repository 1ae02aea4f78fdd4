import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { make, positionOf, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { claimRequest } from '@sluice/run';
import { createSignatures, readKeySet } from '@sluice/identity';
import { defineTool } from '@sluice/tools';
import { ExpirySweep } from '../apps/executor/src/approvals/expiry-sweep.js';
import { OverdueSweep } from '../apps/filter/src/overdue/overdue-sweep.js';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { audience, issuer, newIssuer } from '../libs/identity/test/issuer.js';
import { caughtUp } from './audit/auditing.js';
import { decide } from './harness/approving.js';
import { startByHand } from './harness/by-hand.js';
import type { ByHand } from './harness/by-hand.js';
import { eventually } from './harness/eventually.js';
import { ScriptedModel } from './harness/system.js';
import { replayed } from './replay/replaying.js';

let done = 0;
const tool = (type: string, effect: 'read_only' | 'external_side_effect', ms: number) =>
  defineTool({
    ...{ type, description: 'Does something', effect, redaction: { whole: true }, capabilities: [] },
    ...{ input: z.strictObject({}), output: z.string(), repeatable: false, requiresConnection: false },
    execute: async () => {
      done++;
      await sleep(ms);
      return 'done';
    },
  });
const contracts = [tool('look', 'read_only', 0), tool('act', 'external_side_effect', 3_500)];
const configuration = {
  tool: { act: { type: 'act', timeout_seconds: 4 }, look: { type: 'look' } },
  policy: { allowed_tools: ['act', 'look'] },
};
const noModel = new ScriptedModel(() => {
  throw new Error('No model is asked for a call.');
});

/** What a run has until its deadline, and what its end may take behind it, milliseconds. */
const runMs = 1_500;
const soonMs = 15_000;
const soon = { everyMs: 100, graceMs: 500, executorGraceMs: 500, againMs: 1_000 };

let system: ByHand;
afterEach(() => system.close());

async function begin(more: object = {}): Promise<void> {
  done = 0;
  system = await startByHand({ ...configuration, ...more }, { contracts, model: noModel });
}

const callOf = (requestId: string, tool = 'core__act', more: Partial<AgentRequest> = {}): AgentRequest => ({
  ...newRequest('Go', { requestId, sessionId: requestId }),
  call: make.directCall({ tool, arguments: '{}' }),
  ...more,
});

/** Makes a call, and returns its run’s deadline. */
async function call(requestId: string, ms = runMs, tool?: string): Promise<number> {
  const deadline = Date.now() + ms;
  await system.bus.publish([{ topic: topics.calls, key: requestId, record: callOf(requestId, tool, { deadline }) }]);
  return deadline;
}

const ends = async () =>
  (await system.all('agent.responses')).map(({ record }) => [record.requestId, record.error?.code]);
const steps = async () => (await system.all('agent.steps')).flatMap(({ record }) => record.steps);

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

/** The executor is back, and nothing more comes of what is on the log. */
async function executorIsBack(): Promise<void> {
  await system.start('executor');
  await system.caughtUp('executor', topics.calls, topics.toolCalls);
  await system.caughtUp('filter', topics.steps);
}

describe('a call whose time is up while the executor is away', () => {
  it('ends within seconds of its deadline, once; the executor that comes back makes it no more', async () => {
    await begin();
    await system.start('filter');
    const deadline = await call('overdue');
    const response = await system.responseOf('overdue');
    expect(response).toMatchObject({ kind: 'error', error: { code: 'deadline_exceeded' }, run: { deadline } });
    expect(response.endedAt).toBeGreaterThanOrEqual(deadline);
    expect(response.endedAt - deadline).toBeLessThan(soonMs);
    await executorIsBack();
    expect(await ends()).toEqual([['overdue', 'deadline_exceeded']]);
    expect([done, await steps()]).toEqual([0, []]);
    await expectClean();
  });

  it('ends by the limit of the configuration from when the log took it, where it names no time', async () => {
    await begin({ limits: { run_seconds: 5, tool_seconds: 4 } });
    await system.start('filter');
    await system.bus.publish([{ topic: topics.calls, key: 'limit', record: callOf('limit') }]);
    const { run, endedAt } = await system.responseOf('limit');
    const [message] = await system.all('agent.calls');
    expect(run?.deadline).toBe((message?.timestamp ?? 0) + 5_000);
    expect(endedAt - (run?.deadline ?? 0)).toBeLessThan(soonMs);
    await expectClean();
  });

  it('ends once where several filters look, and one was killed behind its claim of the request', async () => {
    await begin();
    const { runtime } = system.open;
    await call('several', 300);
    const [message] = await system.all('agent.calls');
    if (message === undefined) throw new Error('It is not on the log.');
    await claimRequest({ requestId: 'several', tenant: 'local' }, positionOf(message), runtime);
    const sweeps = ['one', 'other'].map(
      (instance) => new OverdueSweep({ ...runtime, environment: { ...runtime.environment, instance } }, soon),
    );
    await eventually(
      () => system.all('agent.steps'),
      ({ length }) => length > 0,
    );
    // It comes back again and again, since no filter takes it.
    await sleep(2_500);
    expect((await system.all('agent.steps')).length).toBeGreaterThan(1);
    await system.start('filter');
    await system.responseOf('several');
    await system.caughtUp('filter', topics.steps);
    await Promise.all(sweeps.map((sweep) => sweep.close()));
    expect(await ends()).toEqual([['several', 'deadline_exceeded']]);
    await executorIsBack();
    expect([await ends(), done, await system.all('agent.dead-letters')]).toEqual([
      [['several', 'deadline_exceeded']],
      0,
      [],
    ]);
  });

  it('is not ended by a copy of its request, nor a run that has its id', async () => {
    await begin();
    await system.start('executor');
    await call('first', 60_000, 'core__look');
    await system.responseOf('first');
    await system.stop('executor');
    // The one has an end; the other waits for the executor, and what comes under its id is no run.
    await call('first', 300);
    await call('second', 30_000);
    await eventually(
      () => system.all('agent.calls'),
      ({ length }) => length === 3,
    );
    const second = (await system.all('agent.calls')).find(({ record }) => record.requestId === 'second');
    await claimRequest({ requestId: 'second', tenant: 'local' }, positionOf(second ?? never()), system.open.runtime);
    await call('second', 300);
    const sweep = new OverdueSweep(system.open.runtime, soon);
    await sleep(3_000);
    expect(await system.all('agent.steps')).toHaveLength(1);
    expect(sweep.openByTenant()).toEqual(new Map([['local', 1]]));
    await sweep.close();
    expect(await ends()).toEqual([['first', undefined]]);
  });
});

describe('calls of an installation with an identity', () => {
  it('end for each of two tenants that gave them the same ids, and not without a credential', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-overdue-calls-'));
    try {
      const users = await newIssuer();
      const key_file = join(folder, 'issuer.json');
      writeFileSync(key_file, JSON.stringify(users.jwks));
      await begin({ identity: { provider: 'jwt', key_file, issuer, audience } });
      const send = async (tenant: string | null, requestId: string) => {
        const record = {
          ...{ question: 'Go', request_id: requestId, session_id: requestId, deadline: Date.now() + runMs },
          call: { tool: 'core__act', arguments: '{}' },
        };
        const token = tenant && (await users.token({ sub: tenant, tenant, tool_groups: ['*'] }));
        const headers = token === null ? {} : { authorization: `Bearer ${token}` };
        await system.bus.appendRaw(topics.calls, requestId, Buffer.from(JSON.stringify(record)), headers);
      };
      await send('acme', 'same');
      await send('other', 'same');
      await send(null, 'nobody');
      await send(null, 'same');
      const sweep = new OverdueSweep(system.open.runtime, { ...soon, graceMs: 2_000 });
      await eventually(
        () => sweep.openByTenant(),
        (open) => open?.size === 2,
      );
      await system.start('filter');
      await eventually(ends, ({ length }) => length === 2);
      const found = (await system.all('agent.responses')).map(({ record: { run, error } }) => [
        run?.principal?.tenantId,
        error?.code,
      ]);
      expect(found.toSorted()).toEqual([
        ['acme', 'deadline_exceeded'],
        ['other', 'deadline_exceeded'],
      ]);
      await eventually(
        () => sweep.openByTenant(),
        (open) => open?.size === 0,
      );
      await sweep.close();
      // What has no credential is refused, once there is an executor.
      await executorIsBack();
      const refused = (await ends()).filter(([, code]) => code !== 'deadline_exceeded');
      expect(refused).toEqual([
        ['nobody', 'authz_denied'],
        ['same', 'authz_denied'],
      ]);
      expect(done).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a call that an executor has taken', () => {
  it('has the step of its effect, and no second end, where the run had to end before', async () => {
    await begin();
    await system.start('executor');
    await call('under-way', 2_500);
    await eventually(
      () => done,
      (count) => count === 1,
    );
    await system.stop('executor');
    await system.start('filter');
    await sleep(3_500);
    // The executor has time to come back.
    expect(await ends()).toEqual([]);
    const sweep = new OverdueSweep(system.open.runtime, { ...soon, againMs: 60_000 });
    expect(await system.responseOf('under-way')).toMatchObject({ error: { code: 'deadline_exceeded' } });
    await sweep.close();
    await executorIsBack();
    expect((await steps()).map(({ outcome, reason }) => [outcome, reason])).toEqual([['execution', 'outcome_unknown']]);
    expect(await ends()).toEqual([['under-way', 'deadline_exceeded']]);
    expect([done, await system.all('agent.dead-letters')]).toEqual([1, []]);
  });

  it('ends while it waits for an approval and no executor lives; with the executor back nothing is done', async () => {
    await begin({ policy: { ...configuration.policy, approval: { approvers: ['*'] } } });
    await system.start('filter');
    await system.start('executor');
    await call('parked', 4_000);
    await eventually(
      () => system.all('agent.approvals'),
      ({ length }) => length === 1,
    );
    await system.stop('executor');
    const sweep = new OverdueSweep(system.open.runtime, soon);
    expect(await system.responseOf('parked')).toMatchObject({ error: { code: 'deadline_exceeded' } });
    await sweep.close();
    await system.start('executor');
    const expiring = new ExpirySweep(system.open.runtime);
    await eventually(
      () => system.all('agent.approvals'),
      (all) => all.some(({ record }) => record.outcome !== null),
    );
    await system.caughtUp('executor', topics.approvals);
    await expiring.close();
    expect([await steps(), done, await ends()]).toEqual([[], 0, [['parked', 'deadline_exceeded']]]);
    expect(await system.all('agent.dead-letters')).toEqual([]);
  });

  it('is not overdue while it waits; approved, it goes on with the time that it had left', async () => {
    await begin({
      policy: { ...configuration.policy, approval: { approvers: ['*'] } },
      limits: { run_seconds: 6, tool_seconds: 4 },
    });
    for (const role of ['filter', 'agent', 'executor'] as const) await system.start(role);
    await system.bus.publish([{ topic: topics.calls, key: 'waiting', record: callOf('waiting') }]);
    const [message] = await eventually(
      () => system.all('agent.approvals'),
      ({ length }) => length === 1,
    );
    const requested = message?.record.requested ?? never();
    const sweep = new OverdueSweep(system.open.runtime, soon);
    await sleep(6_000 + soon.graceMs + soon.executorGraceMs + 1_500);
    expect(await ends()).toEqual([]);
    await decide(system, { requested, message: message ?? never() }, 'approve');
    expect(await system.responseOf('waiting')).toMatchObject({ kind: 'answer', run: { parkedMs: expect.any(Number) } });
    await sweep.close();
    expect([done, (await ends()).length]).toEqual([1, 1]);
  });
});

function never(): never {
  throw new Error('It is not on the log.');
}
