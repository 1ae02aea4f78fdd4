import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { localPrincipal } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { cancelRun } from '@sluice/run';
import { createSignatures, readKeySet } from '@sluice/identity';
import { builtInTools } from '@sluice/packs';
import { defineTool } from '@sluice/tools';
import { ExpirySweep } from '../apps/executor/src/approvals/expiry-sweep.js';
import { audience, issuer, newIssuer } from '../libs/identity/test/issuer.js';
import { caughtUp } from './audit/auditing.js';
import { command } from './harness/command.js';
import { startByHand } from './harness/by-hand.js';
import type { ByHand } from './harness/by-hand.js';
import { eventually } from './harness/eventually.js';
import { inOrder, ScriptedModel } from './harness/system.js';
import { replayed } from './replay/replaying.js';

let begun = 0;
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
    begun++;
    await sleep(20_000, undefined, { ref: false });
    return 'done';
  },
});

const agents = builtInTools.filter(({ type }) => type === 'agent');
const loop = ['filter', 'agent', 'executor'] as const;
const twice = () =>
  new ScriptedModel(
    inOrder({
      calls: [
        ['core__act', '{}'],
        ['core__act', '{}'],
      ],
    }),
  );
/** A model that gives no answer until it is broken off. */
class Silent extends ScriptedModel {
  readonly signals: AbortSignal[] = [];

  override async turn(
    request: Parameters<ScriptedModel['turn']>[0],
    options?: { readonly signal: AbortSignal },
  ): ReturnType<ScriptedModel['turn']> {
    if (options === undefined) throw new Error('A turn has a signal.');
    this.signals.push(options.signal);
    await sleep(60_000, undefined, { ref: false, signal: options.signal });
    return super.turn(request);
  }
}
const never = () => new Silent(inOrder({ answer: 'Too late.' }));

let system: ByHand;
afterEach(() => system.close());

async function begin(model: ScriptedModel, more: object = {}): Promise<void> {
  begun = 0;
  const configuration = {
    tool: { act: { type: 'act', timeout_seconds: 8 } },
    policy: { allowed_tools: ['act'] },
    ...more,
  };
  system = await startByHand(configuration, { contracts: [act, ...agents], model });
}

const start = async (...roles: readonly ('filter' | 'agent' | 'executor')[]): Promise<void> => {
  for (const role of roles) await system.start(role);
};

async function cancel(requestId: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const record = { request_id: requestId, reason: 'Wrong question.' };
  await system.bus.appendRaw(topics.cancellations, requestId, Buffer.from(JSON.stringify(record)), headers);
}

const outcomes = async () =>
  (await system.all('agent.cancellations')).flatMap(({ record: { outcome } }) => (outcome === null ? [] : [outcome]));

const outcome = () =>
  eventually(
    async () => (await outcomes())[0],
    (one) => one !== undefined,
  );

const steps = async () => (await system.all('agent.steps')).flatMap(({ record }) => record.steps);

const isCancelled = {
  kind: 'error',
  error: { code: 'cancelled', message: 'The run was cancelled by its caller: Wrong question.' },
};

/** One end, nothing was put among the dead letters, and replay and the audit agree with all that is on the log. */
async function expectClean(ends = 1): Promise<void> {
  expect(await system.all('agent.responses')).toHaveLength(ends);
  expect(await system.all('agent.dead-letters')).toEqual([]);
  const keys = readKeySet(readFileSync(join(system.folder, 'keys.json'), 'utf8'), 'keys.json');
  const decisions = await replayed(system.bus, keys);
  expect(decisions.filter((one) => one.outcome.kind !== 'equal')).toEqual([]);
  await system.start('audit');
  const report = await caughtUp(system.bus, createSignatures(keys));
  expect(report.findings).toEqual([]);
}

describe('a run that its caller cancels', () => {
  it('before it is decided ends before its first iteration, and the log says who did', async () => {
    await begin(twice());
    await cancel('early');
    await start('filter');
    expect(await outcome()).toMatchObject({ actorId: localPrincipal.actorId, notTaken: null });
    await system.request('early');
    expect(await system.responseOf('early')).toMatchObject({ ...isCancelled, iterations: 0 });
    expect(await system.all('agent.toolsets')).toEqual([]);
    await expectClean();
    const told = (await system.all('agent.audit')).map(({ record: { kind, details } }) => [kind, details]);
    expect(told).toContainEqual(['cancel_outcome', expect.stringContaining(localPrincipal.actorId)]);
  });

  it('while it waits for the agent ends without a model asked', async () => {
    const model = twice();
    await begin(model);
    await start('filter');
    await system.request('waiting');
    await eventually(
      () => system.all('agent.toolsets'),
      (found) => found.length === 1,
    );
    await cancel('waiting');
    await outcome();
    await start('agent');
    expect(await system.responseOf('waiting')).toMatchObject({ ...isCancelled, iterations: 1 });
    expect(model.asked).toEqual([]);
    await expectClean();
  });

  it('during the model’s turn ends within seconds', async () => {
    const model = never();
    await begin(model);
    await start(...loop);
    await system.request('asked');
    await eventually(
      () => Promise.resolve(model.signals.length),
      (count) => count === 1,
    );
    await cancel('asked');
    const at = Date.now();
    expect(await system.responseOf('asked')).toMatchObject({ ...isCancelled, iterations: 1 });
    expect(Date.now() - at).toBeLessThan(10_000);
    expect(model.signals.map(({ aborted }) => aborted)).toEqual([true]);
    await expectClean();
  });

  it('during a call ends with the call’s outcome on record, and the calls behind it are not made', async () => {
    await begin(twice());
    await start(...loop);
    await system.request('calling');
    await eventually(
      () => Promise.resolve(begun),
      (count) => count === 1,
    );
    await cancel('calling');
    const { history, ...end } = await system.responseOf('calling');
    expect(end).toMatchObject(isCancelled);
    expect(history.map(({ outcome: how, reason }) => [how, reason])).toEqual([
      ['execution', 'outcome_unknown'],
      ['execution', 'cancelled'],
    ]);
    expect(begun).toBe(1);
    await expectClean();
  });

  it('while a call waits for an approval ends without it', async () => {
    await begin(twice(), { policy: { allowed_tools: ['act'], approval: { approvers: ['*'] } } });
    await start(...loop);
    await system.request('parked');
    await eventually(
      () => system.all('agent.approvals'),
      (found) => found.length === 2,
    );
    const sweep = new ExpirySweep(system.open.runtime);
    await cancel('parked');
    expect(await system.responseOf('parked')).toMatchObject(isCancelled);
    await sweep.close();
    expect((await steps()).map(({ reason }) => reason)).toEqual(['cancelled', 'cancelled']);
    expect(begun).toBe(0);
    await expectClean();
  });

  it('while a sub-agent works for it ends with it, the sub-agent first', async () => {
    const model = new ScriptedModel(async ({ question }) => {
      if (question === 'Go') return { calls: [['core__helper', '{"question":"Who?"}']] };
      return { calls: [['core__act', '{}']] };
    });
    const helper = { type: 'agent', description: 'Helps', group: ['help'], agent: { group: ['other'] } };
    await begin(model, {
      tool: { act: { type: 'act', group: ['other'], timeout_seconds: 30 }, helper },
      policy: { allowed_tools: ['act', 'helper'], allowed_agents: ['helper'] },
    });
    await start(...loop);
    await system.request('caller', { group: ['help', 'other'] });
    await eventually(
      () => Promise.resolve(begun),
      (count) => count === 1,
    );
    await cancel('caller');
    expect(await system.responseOf('caller')).toMatchObject(isCancelled);
    const ends = (await system.all('agent.responses')).map(({ record }) => [record.requestId, record.error?.code]);
    expect(ends).toEqual([
      [expect.stringMatching(/^agent-/), 'cancelled'],
      ['caller', 'cancelled'],
    ]);
    await expectClean(2);
  });
});

describe('a cancellation', () => {
  it('survives a filter that ends between its mark and its outcome, and an executor that ends before the run does', async () => {
    await begin(twice());
    await start(...loop);
    await system.request('killed');
    await eventually(
      () => Promise.resolve(begun),
      (count) => count === 1,
    );
    await system.stop('filter');
    await system.stop('executor');
    // As a filter leaves it that was killed behind the mark: the cancellation comes to the next one again.
    await cancelRun('killed', localPrincipal, 'Wrong question.', system.open.runtime);
    await cancel('killed');
    await start('executor', 'filter');
    expect(await system.responseOf('killed')).toMatchObject(isCancelled);
    await outcome();
    await system.caughtUp('filter', topics.steps, topics.cancellations);
    expect((await steps()).map(({ reason }) => reason)).toEqual(['outcome_unknown', 'cancelled']);
    expect(begun).toBe(1);
    expect(await outcomes()).toHaveLength(1);
    await expectClean();
  });

  it('of a run that has ended changes nothing, and its outcome says so', async () => {
    await begin(new ScriptedModel(inOrder({ answer: 'Done.' })));
    await start(...loop);
    await system.request('over');
    expect(await system.responseOf('over')).toMatchObject({ answer: 'Done.' });
    await cancel('over');
    expect(await outcome()).toMatchObject({ notTaken: 'ended' });
    await expectClean();
  });

  it('counts only from the run’s own caller', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-cancel-'));
    try {
      const users = await newIssuer();
      const key_file = join(folder, 'issuer.json');
      writeFileSync(key_file, JSON.stringify(users.jwks));
      await begin(never(), {
        identity: { provider: 'jwt', key_file, issuer, audience },
        agents: { watched: { may_cancel: { principals: ['user:lea'] } } },
      });
      await start(...loop);
      const of = async (sub: string, tenant: string) => ({
        authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}`,
      });
      const request = { question: 'Go', request_id: 'own', session_id: 'own', deadline: Date.now() + 60_000 };
      const ana = await of('ana', 'acme');
      await system.bus.appendRaw(topics.requests, 'own', Buffer.from(JSON.stringify(request)), ana);
      await eventually(
        () => system.all('agent.toolsets'),
        (found) => found.length === 1,
      );
      await cancel('own');
      await cancel('own', await of('ben', 'acme'));
      await cancel('own', await of('ana', 'other'));
      await system.caughtUp('filter', topics.cancellations);
      expect((await outcomes()).map(({ actorId, tenantId, notTaken }) => [actorId, tenantId, notTaken])).toEqual([
        ['', '', 'not_authenticated'],
        ['user:ben', 'acme', 'not_its_caller'],
        // A run of that name, which the other tenant has not begun.
        ['user:ana', 'other', null],
      ]);
      await sleep(1_500);
      expect(await system.all('agent.responses')).toEqual([]);
      await cancel('own', await of('lea', 'acme'));
      await cancel('own', ana);
      expect(await system.responseOf('own')).toMatchObject(isCancelled);

      const watched = { ...request, request_id: 'watched', session_id: 'watched', agent: 'watched' };
      await system.bus.appendRaw(topics.requests, 'watched', Buffer.from(JSON.stringify(watched)), ana);
      await eventually(
        () => system.all('agent.toolsets'),
        (found) => found.some(({ record }) => record.requestId === 'watched'),
      );
      for (const [sub, tenant] of [
        ['ben', 'acme'],
        ['lea', 'other'],
        ['lea', 'acme'],
      ] as const)
        // prettier-ignore
        await cancel('watched', await of(sub, tenant));
      const { error } = await system.responseOf('watched');
      // The run ends by the mark in the ledger; the outcome is on the log a moment later.
      await system.caughtUp('filter', topics.cancellations);
      expect(error).toMatchObject({ code: 'cancelled', message: expect.stringContaining('cancelled by user:lea') });
      const judged = (await system.all('agent.cancellations')).flatMap(({ record: { requestId, outcome: found } }) =>
        found === null ? [] : [[requestId, found.actorId, found.tenantId, found.notTaken]],
      );
      expect(judged.filter(([id, actor]) => id === 'watched' || actor === 'user:lea')).toEqual([
        // No entry names the caller for runs of the default agent.
        ['own', 'user:lea', 'acme', 'not_its_caller'],
        ['watched', 'user:ben', 'acme', 'not_its_caller'],
        ['watched', 'user:lea', 'other', null],
        ['watched', 'user:lea', 'acme', null],
      ]);
      await expectClean(2);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('of the command line says whether it counts', async () => {
    await begin(never());
    await start(...loop);
    await system.request('typed');
    await eventually(
      () => system.all('agent.toolsets'),
      (found) => found.length === 1,
    );
    const variables = { SLUICE_DATA: system.folder };
    const cancelled = await command(['cancel', 'typed', '--reason', 'Wrong question.'], variables);
    expect(cancelled).toMatchObject({ code: 0, output: expect.stringContaining('is cancelled by') });
    expect(await system.responseOf('typed')).toMatchObject(isCancelled);
    const late = await command(['cancel', 'typed'], variables);
    expect(late).toMatchObject({ code: 1, output: expect.stringContaining('The run had ended before.') });
    const seen = await command(['tail', '--from', 'start', '--once', '--topic', 'agent.cancellations'], variables);
    expect(seen.output).toMatch(/is to be cancelled: Wrong question\.[^]*is cancelled by[^]*is not cancelled: ended/);
    const none = await command(['cancel', 'nope'], variables);
    expect(none).toMatchObject({ code: 1, output: expect.stringContaining('There is no run nope of yours. --before') });
    const early = await command(['cancel', 'nope', '--before'], variables);
    expect(early).toMatchObject({ code: 0, output: expect.stringContaining('nope is cancelled by') });
    expect((await command(['cancel'])).errors).toContain('Name one run');
    expect((await command(['cancel', 'x', '--reason', 'y'.repeat(501)])).errors).toContain('at most 500');
    await expectClean();
  });

  it('that names no run, or says too much, is put among the dead letters and ends nothing', async () => {
    await begin(twice());
    await start('filter');
    await cancel('');
    const long = { request_id: 'long', reason: 'x'.repeat(501) };
    await system.bus.appendRaw(topics.cancellations, 'long', Buffer.from(JSON.stringify(long)), {});
    const dead = await eventually(
      () => system.all('agent.dead-letters'),
      (found) => found.length === 2,
    );
    expect(dead.map(({ record: { code } }) => code)).toEqual(['invalid_request', 'invalid_request']);
    expect(await system.all('agent.responses')).toEqual([]);
  });
});
