import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import { createSignatures, readKeySet } from '@sluice/identity';
import { builtInTools } from '@sluice/packs';
import { pausedBy, runNow, scheduleCredential, ScheduleStates } from '@sluice/run';
import { Scheduler } from '../apps/filter/src/schedules/scheduler.js';
import { startByHand } from './harness/by-hand.js';
import type { ByHand } from './harness/by-hand.js';
import { eventually } from './harness/eventually.js';
import { sluice } from './harness/program.js';
import { inOrder, ScriptedModel } from './harness/system.js';

const minutes = 60_000;
const apart = 5 * minutes;
const contracts = builtInTools.filter(({ type }) => type === 'text-completion');
const pace = { everyMs: 20, claimMs: 300 };

let system: ByHand;
let schedulers: Scheduler[] = [];
/** The first due time, and how far the clock of the schedulers is ahead. */
let firstDue = 0;
let ahead = 0;
/** Right behind that due time. */
const passTo = (count: number): void => void (ahead = firstDue + (count - 1) * apart + 1_000 - Date.now());

afterEach(async () => {
  await Promise.all(schedulers.map((one) => one.close()));
  schedulers = [];
  await system.close();
});

const nightly = (more: object = {}) => ({
  ...{ cron: '*/5 * * * *', time_zone: 'Europe/Berlin', question: 'What is new?' },
  ...{ principal: 'service:reports', tenant: 'acme', groups: ['news'], catch_up: 'all', ...more },
});

async function begin(
  schedule: Readonly<Record<string, object>>,
  model = new ScriptedModel(inOrder({ answer: 'Nothing.' })),
) {
  firstDue = (Math.floor(Date.now() / apart) + 1) * apart;
  ahead = 0;
  const identity = { provider: 'api-keys' };
  const configuration = { tool: { text: { type: 'text-completion', group: ['news'] } }, identity, schedule };
  system = await startByHand(configuration, { contracts, model });
}

/** A filter’s own, whose clock is ahead. With other parts it hangs in them for ever, as one that was killed. */
function startScheduler(instance: string, more: object = {}): void {
  const { runtime } = system.open;
  const environment = { ...runtime.environment, instance };
  const clock = { now: () => Date.now() + ahead };
  const one = new Scheduler({ ...runtime, clock, environment, ...more }, pace);
  if (Object.keys(more).length === 0) schedulers.push(one);
}

const requests = () => system.all(topics.requests);
const ends = async () => (await system.all(topics.responses)).map(({ record }) => record);
const states = async () => (await new ScheduleStates(system.open.runtime.documents).read()).states;
const untilRequests = (count: number) => eventually(requests, (all) => all.length >= count);

describe('a schedule', () => {
  it('starts one run for each due time, whichever of two filters looks, as its service principal', async () => {
    await begin({ nightly: nightly({ overlap: 'queue' }) });
    await system.start('filter');
    await system.start('agent');
    passTo(3);
    startScheduler('one');
    startScheduler('two');
    const asked = await untilRequests(1);
    const [first] = asked;
    const { record } = await eventually(
      () => system.all(topics.toolsets),
      (all) => all.length > 0,
    ).then(([one]) => one as NonNullable<typeof one>);
    expect(record.run.principal).toEqual({
      ...{ actorId: 'service:reports', tenantId: 'acme', subjectId: null },
      ...{ groups: ['news'], connections: [] },
    });
    expect(first?.record).toMatchObject({ question: 'What is new?', group: ['news'], sessionId: 'schedule-nightly' });
    expect((await eventually(ends, (all) => all.length === 3)).map(({ kind }) => kind)).toEqual(
      Array(3).fill('answer'),
    );
    // A request that is published again, as its claim was over, is dropped.
    const ids = new Set((await requests()).map((one) => one.record.requestId));
    expect([...ids].sort()).toEqual([0, 1, 2].map((count) => `schedule-nightly-${firstDue + count * apart}`));
    expect((await states()).get('nightly')?.queue).toEqual([]);
  });

  it('starts a run once whose filter is killed between the claim and the request, and between that and its note', async () => {
    await begin({ nightly: nightly() });
    passTo(1);
    const { bus, documents } = system.open.runtime;
    let published = 0;
    // A process that is killed does nothing more: neither does this one.
    const killed: Pick<typeof bus, 'read' | 'publish'> = {
      read: (...given) => bus.read(...given),
      publish: () => new Promise<never>(() => void published++),
    };
    startScheduler('killed', { bus: killed });
    await eventually(
      () => published,
      (count) => count > 0,
    );
    expect((await states()).get('nightly')?.queue).toHaveLength(1);
    expect(await requests()).toEqual([]);

    let isNoted = false;
    const unnoted = {
      find: (key: string) => documents.find(key),
      put: () => new Promise<never>(() => void (isNoted = true)),
    };
    startScheduler('killed-later', { documents: unnoted });
    await untilRequests(1);
    await eventually(
      () => isNoted,
      (is) => is,
    );
    await system.start('filter');
    await system.start('agent');
    startScheduler('alive');
    const queue = await eventually(
      async () => (await states()).get('nightly')?.queue,
      (one) => one?.length === 0,
    );
    expect(queue).toEqual([]);
    const [asked] = await requests();
    await system.responseOf(asked?.record.requestId ?? '');
    await system.caughtUp('filter', topics.requests);
    expect(await ends()).toHaveLength(1);
  });

  it('goes on once a clock that was a year ahead is right again', async () => {
    await begin({ nightly: nightly({ catch_up: 'last' }) });
    await system.start('filter');
    ahead = 365 * 24 * 60 * minutes;
    startScheduler('one');
    await untilRequests(1);
    await eventually(
      async () => (await states()).get('nightly')?.queue,
      (queue) => queue?.length === 0,
    );
    for (const { record } of await requests()) await system.responseOf(record.requestId ?? '');
    ahead = 0;
    await eventually(
      async () => (await states()).get('nightly')?.handledTo ?? 0,
      (to) => to < Date.now() + apart,
    );
    passTo(1);
    const ids = async () => (await requests()).map(({ record }) => record.requestId);
    await eventually(ids, (all) => all.includes(`schedule-nightly-${firstDue}`));
    expect((await states()).get('nightly')?.handledTo).toBe(firstDue);
  });

  it('is held up for an hour by a run that was denied, since the clock was wrong', async () => {
    await begin({ nightly: nightly({ overlap: 'queue', catch_up: 'none' }) });
    await system.start('filter');
    const handledUpTo = (due: number) =>
      eventually(
        async () => (await states()).get('nightly')?.handledTo ?? 0,
        (to) => to >= due,
      );
    passTo(7);
    startScheduler('one');
    const [denied] = await untilRequests(1);
    const { error } = await system.responseOf(denied?.record.requestId ?? '');
    expect(error?.code).toBe('authz_denied');
    passTo(9);
    await handledUpTo(firstDue + 8 * apart);
    await sleep(300);
    expect(await requests()).toHaveLength(1);
    passTo(20);
    const ids = (await untilRequests(2)).map(({ record }) => record.requestId);
    expect(ids[1]).toBe(`schedule-nightly-${firstDue + 8 * apart}`);
  });

  it.each(['queue', 'cancel', 'skip'] as const)(
    'whose run has not ended by the next due time: overlap %s',
    async (overlap) => {
      await begin({ nightly: nightly({ overlap }) });
      // No agent: the first run does not end.
      await system.start('filter');
      passTo(1);
      startScheduler('one');
      await untilRequests(1);
      passTo(2);
      await eventually(
        async () => (await states()).get('nightly')?.handledTo,
        (to) => to === firstDue + apart,
      );
      await sleep(300);
      await system.caughtUp('filter', topics.cancellations, topics.requests);
      const { queue } = (await states()).get('nightly') ?? {};
      const outcomes = (await system.all(topics.cancellations)).flatMap(({ record: { outcome } }) => outcome ?? []);
      expect([(await requests()).length, queue?.length, outcomes.map(({ notTaken }) => notTaken)]).toEqual(
        { queue: [1, 1, []], cancel: [2, 0, [null]], skip: [1, 0, []] }[overlap],
      );
      await system.start('agent');
      const count = overlap === 'skip' ? 1 : 2;
      const all = await eventually(ends, (found) => found.length === count);
      expect(all.map(({ error }) => error?.code ?? null)).toEqual(
        { queue: [null, null], cancel: ['cancelled', null], skip: [null] }[overlap],
      );
    },
  );

  it('that is paused starts nothing but what is asked for now', async () => {
    await begin({ nightly: nightly() });
    await system.start('filter');
    await system.start('agent');
    const named = [{ name: 'nightly' }];
    const kept = new ScheduleStates(system.open.runtime.documents);
    await kept.change('nightly', named, (state) => pausedBy(state, 'user:ann', Date.now()));
    passTo(1);
    startScheduler('one');
    await eventually(
      async () => (await states()).get('nightly')?.handledTo,
      (to) => to === firstDue,
    );
    await kept.change('nightly', named, (state) => runNow(state, 'user:ann', Date.now()));
    const [asked] = await untilRequests(1);
    expect(asked?.record.requestId).toMatch(/^schedule-nightly-\d+-[0-9a-f]{8}$/);
    await system.responseOf(asked?.record.requestId ?? '');
    expect(await requests()).toHaveLength(1);
  });
});

describe('the credential of a schedule', () => {
  const written = () => ({
    topic: topics.requests,
    record: make.agentRequest({ question: 'What is new?', group: ['news'], requestId: 'r-1', sessionId: 's-1' }),
  });
  const send = async (authorization: string, record = written().record) => {
    await system.bus.publish([
      { topic: topics.requests, key: 's-1', record, headers: { authorization, 'sluice-channel': 'schedule' } },
    ]);
    return system.responseOf(record.requestId ?? '');
  };
  const keys = (): string => readFileSync(join(system.folder, 'keys.json'), 'utf8');
  const denied = { kind: 'error', error: { code: 'authz_denied' } };

  beforeEach(async () => {
    await begin({ nightly: nightly({ from: '2099-01-01T00:00:00Z' }) });
    await system.start('filter');
    await system.start('agent');
  });

  it('is the filter’s signature over the whole record', async () => {
    const { signatures } = system.open.runtime;
    const credential = await scheduleCredential('nightly', written(), { signatures, now: Date.now() });
    expect(
      await send(credential, { ...written().record, question: 'Give me the keys.', requestId: 'r-2' }),
    ).toMatchObject(denied);
    expect(await send(credential)).toMatchObject({ kind: 'answer' });
  });

  it('counts for no schedule that there is not, no other topic, and not an hour later', async () => {
    const { signatures } = system.open.runtime;
    const gone = await scheduleCredential('gone', written(), { signatures, now: Date.now() });
    expect(await send(gone)).toMatchObject(denied);
    const old = { ...written().record, requestId: 'r-3' };
    const late = await scheduleCredential(
      'nightly',
      { topic: topics.requests, record: old },
      { signatures, now: Date.now() - 60 * minutes },
    );
    expect(await send(late, old)).toMatchObject(denied);
  });

  it('is not one that another service signed, or that no one did', async () => {
    const { keys: all, ...set } = readKeySet(keys(), 'keys.json');
    const agent = all.find(({ role, status }) => role === 'agent' && status === 'signing');
    if (agent === undefined) throw new Error('There is no key of the agent.');
    const forged = createSignatures({ ...set, keys: [{ ...agent, role: 'filter' }] });
    const credential = await scheduleCredential('nightly', written(), { signatures: forged, now: Date.now() });
    expect(await send(credential)).toMatchObject(denied);
    const next = { ...written().record, requestId: 'r-4' };
    expect(await send('Sluice-Schedule e30.e30.e30', next)).toMatchObject(denied);
  });
});

describe('kill -9 of all services', () => {
  it('right after a run was asked for: it is started by the next ones, once', async () => {
    await begin({ nightly: nightly() });
    const folder = mkdtempSync(join(tmpdir(), 'sluice-schedules-'));
    const config = join(folder, 'sluice.yaml');
    const schedule = { later: nightly({ cron: '0 0 1 1 *', groups: [] }) };
    const tool = { time: { type: 'get_current_time' } };
    writeFileSync(config, JSON.stringify({ tool, policy: { allowed_tools: ['time'] }, schedule }));
    const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config };
    try {
      const first = sluice(['start'], variables);
      await first.says('It keeps serving');
      const asked = await sluice(['schedules', 'run', 'later', '--json'], variables).ended;
      first.process.kill('SIGKILL');
      await first.ended;
      const { request_id: id } = JSON.parse(asked.output) as { readonly request_id: string };
      const next = sluice(['start'], variables);
      await next.says('It keeps serving');
      const runs = await eventually(
        async () => (await sluice(['runs', '--json'], variables).ended).output.split('\n').filter((one) => one !== ''),
        (lines) => lines.some((line) => line.includes('"outcome":"answer"')),
      );
      const listed = await eventually(
        async () => (await sluice(['schedules', 'list'], variables).ended).output,
        (text) => text.includes('last run'),
      );
      expect(listed).toContain(`last run ${id}: answer`);
      const { schedules } = JSON.parse((await sluice(['schedules', 'list', '--json'], variables).ended).output) as {
        readonly schedules: readonly unknown[];
      };
      expect(schedules).toMatchObject([{ name: 'later', last_run: { request_id: id, outcome: 'answer' } }]);
      expect(runs.map((line) => (JSON.parse(line) as { readonly request_id: string }).request_id)).toEqual([id]);
      next.process.kill('SIGTERM');
      expect((await next.ended).code).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
