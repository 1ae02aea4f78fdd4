import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Ledger } from '@sluice/core';
import { make, redriveHeader, topics } from '@sluice/contracts';
import type { Bus, Outgoing } from '@sluice/bus';
import { letterAt, planRedrive, redrive } from '@sluice/run';
import type { Letter, Plan } from '@sluice/run';
import { changed, replayed } from '../replay/replaying.js';
import { eventually } from '../security/forging.js';
import { hops, startDying } from './dying.js';
import type { Dying } from './dying.js';

describe('a dead letter that is re-driven', () => {
  let dying: Dying;
  beforeAll(async () => {
    dying = await startDying({ limits: { max_iterations: 2 } });
  });
  afterAll(() => dying.close());

  it.each(hops.map((hop, index) => [...hop, `hop-${index}`] as const))(
    'of a run that died %s: the run ends once more, and each effect happened once',
    async (_, topic, code, cut, id) => {
      cut(dying);
      await dying.publish(id);
      expect(await dying.end(id)).toMatchObject({
        kind: 'error',
        run: topic === topics.requests ? null : expect.anything(),
      });
      dying.mend();
      const letter = await dying.letterOf(id);
      expect((await dying.command('show', letter)).output).toContain(`${code}: `);

      const redriven = await dying.command('redrive', letter);
      expect(redriven).toEqual({ code: 0, output: expect.stringContaining('1 re-driven, 0 not.') });
      const end = await dying.end(id, 2);
      expect(end).toMatchObject({ kind: 'answer', answer: 'ok,ok', iterations: 2, run: { redrive: letter } });
      expect([dying.effects.get(`${id}/1`), dying.effects.get(`${id}/2`)]).toEqual([1, 1]);

      const again = await dying.command('redrive', letter);
      expect(again).toMatchObject({
        code: 1,
        output: expect.stringMatching(/It was re-driven by \S+@\S+, 2\S+Z, as agent/),
      });
      expect(await dying.responses(id)).toHaveLength(2);
      const metrics = await dying.runtime.metrics.registry.metrics();
      const wentTo = topic === topics.toolsets ? topics.steps : topic;
      expect(metrics).toMatch(new RegExp(`sluice_redriven_records_total{topic="${wentTo}"} [1-9]`));
    },
  );

  it('leaves decisions that a replay makes once more to the byte', async () => {
    const decisions = await replayed(dying.runtime.bus, null);
    const redone = dying.runtime.bus.read([topics.toolsets], { from: 'start' });
    let attempts = 0;
    for await (const { record } of redone) if (record.run.redrive !== null) attempts++;
    expect(attempts).toBeGreaterThan(hops.length);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('leaves decisions that a replay makes once more where the run went on for long', async () => {
    const [, again] = (await dying.all(topics.responses)).filter(({ record }) => record.requestId === 'hop-0');
    const endedAt = again?.timestamp ?? Infinity;
    const long = changed(dying.runtime.bus, (message) =>
      message.timestamp < endedAt ? message : { ...message, timestamp: message.timestamp + 20_000 },
    );
    const decisions = (await replayed(long, null)).filter(({ requestId }) => requestId === 'hop-0');
    expect(decisions.length).toBeGreaterThan(2);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('keeps the headers of its record but for credentials, and says which letter it was', async () => {
    dying.cutLedger('request/');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await dying.publish('traced', {}, { traceparent, authorization: 'Bearer secret-of-the-caller' });
    await dying.end('traced');
    dying.mend();
    const letter = await dying.letterOf('traced');
    await dying.command('redrive', letter);
    const end = await dying.end('traced', 2);
    expect(end.kind).toBe('answer');
    const published = (await dying.all(topics.requests)).findLast(({ record }) => record.requestId === 'traced');
    expect(published?.headers).toEqual({ traceparent, [redriveHeader]: letter });
    const ended = (await dying.all(topics.responses)).findLast(({ record }) => record.requestId === 'traced');
    expect(ended?.headers).toEqual({ traceparent });
  });

  it('that dies again is re-driven again, and still does nothing twice', async () => {
    dying.cutLedger('effect/twice/1/1/');
    await dying.publish('twice');
    await dying.end('twice');
    const first = await dying.letterOf('twice');
    await dying.command('redrive', first);
    await dying.end('twice', 2);
    dying.mend();
    const second = await dying.letterOf('twice');
    expect(second).not.toBe(first);
    await dying.command('redrive', second);
    expect(await dying.end('twice', 3)).toMatchObject({ kind: 'answer', run: { redrive: second } });
    expect([dying.effects.get('twice/1'), dying.effects.get('twice/2')]).toEqual([1, 1]);
  });

  it('by its filter takes those that are not redriven yet, and a dry run takes none', async () => {
    dying.cutModel();
    const ids = ['many-1', 'many-2', 'many-3'];
    for (const id of ids) await dying.publish(id);
    for (const id of ids) await dying.end(id);
    dying.mend();
    await dying.command('redrive', await dying.letterOf('many-2'));
    await dying.end('many-2', 2);
    const filter = ['--code', 'model_refused', '--topic', 'agent.toolsets', '--since', '1h'];
    const dry = await dying.command('redrive', ...filter, '--dry-run');
    expect(dry.output).toMatch(
      /would go to agent\.steps: the filter decides the turn again\n.*\n2 would be re-driven, 0 not\.\n$/,
    );
    expect(await dying.responses('many-1')).toHaveLength(1);
    expect((await dying.command('redrive', ...filter)).output).toMatch(/\n2 re-driven, 0 not\.\n$/);
    for (const id of ids) expect(await dying.end(id, 2)).toMatchObject({ kind: 'answer' });
    expect((await dying.command('redrive', ...filter)).output).toBe('0 re-driven, 0 not.\n');
    for (const id of ids) expect(await dying.responses(id)).toHaveLength(2);
  });
});

describe('a redrive of a record that was put aside while the keys were wrong', () => {
  it.each([
    ['agent.toolsets', 'grant_invalid', 'filter'],
    ['agent.steps', 'continuation_invalid', 'executor'],
  ])('on %s brings its run to its one end', async (topic, code, signer) => {
    const dying = await startDying();
    try {
      const { verify } = dying.runtime.signatures;
      const wrong = {
        verify: async (role: string, token: string) => (role === signer ? null : verify(role as never, token)),
      };
      Object.assign(dying.runtime.signatures, wrong);
      await dying.publish('stuck');
      const letter = await dying.letterOf('stuck');
      Object.assign(dying.runtime.signatures, { verify });
      expect(await dying.responses('stuck')).toEqual([]);
      const redriven = await dying.command('redrive', '--topic', topic, '--code', code);
      expect(redriven.output).toContain(`${letter}: goes to ${topic}`);
      expect(await dying.end('stuck')).toMatchObject({ kind: 'answer', answer: 'ok,ok', run: { redrive: null } });
      expect([...dying.effects.values()]).toEqual([1, 1]);
    } finally {
      await dying.close();
    }
  });

  it('whose keys are gone for good ends its run with an error', async () => {
    const dying = await startDying();
    try {
      dying.cutLedger('turn/agent.steps');
      await dying.publish('gone');
      await dying.end('gone');
      dying.mend();
      Object.assign(dying.runtime.signatures, { verify: async () => null });
      await dying.command('redrive', await dying.letterOf('gone'));
      const { error } = await dying.end('gone', 2);
      expect(error).toMatchObject({
        code: 'dead_lettered',
        message: expect.stringContaining('keys were rotated since'),
      });
    } finally {
      await dying.close();
    }
  });
});

describe('a redrive of a turn whose tools the policy of today does not allow any more', () => {
  it.each([
    ['before its calls', 'turn/agent.tool-calls', ['policy_denied', 'policy_denied']],
    ['between two effects', 'effect/forbidden/1/1/', ['ok', 'policy_denied']],
  ])('that died %s calls none of them: what was done before stays done', async (_, prefix, outcomes) => {
    const dying = await startDying();
    try {
      dying.cutLedger(prefix);
      await dying.publish('forbidden');
      await dying.end('forbidden');
      dying.mend();
      await dying.forbid();
      const letter = await dying.letterOf('forbidden');
      expect((await dying.command('redrive', letter)).output).toContain(`${letter}: goes to agent.tool-calls`);
      const { history, ...end } = await dying.end('forbidden', 2);
      expect(end).toMatchObject({ kind: 'answer', answer: outcomes.join(), run: { redrive: letter } });
      expect(history.map(({ reason }) => reason)).toEqual(outcomes.map((one) => (one === 'ok' ? null : 'not_allowed')));
      expect([...dying.effects.values()]).toEqual(outcomes.flatMap((one) => (one === 'ok' ? [1] : [])));
      const decisions = await replayed(dying.runtime.bus, null);
      expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    } finally {
      await dying.close();
    }
  });
});

describe('a redrive by several operators at once', () => {
  let dying: Dying;
  let letter: Letter;
  let plan: Exclude<Plan, { kind: 'refused' }>;
  beforeEach(async () => {
    dying = await startDying();
    dying.cutModel();
    await dying.publish('wanted');
    await dying.end('wanted');
    dying.mend();
    letter = (await letterAt(await dying.letterOf('wanted'), dying.bus)) as Letter;
    plan = planRedrive(letter, { identity: false, isAskerKept: false, now: Date.now(), before: null }) as typeof plan;
  });
  afterEach(() => dying.close());

  it('is made by one of them; the others learn by whom', async () => {
    const { bus, ledger, clock } = dying.runtime;
    const names = Array.from({ length: 8 }, (_, n) => `operator-${n}`);
    const made = await Promise.all(names.map((name) => redrive(letter, plan, name, { bus, ledger, clock })));
    const [winner, ...more] = names.filter((_, n) => made[n]?.kind === 'done');
    expect([winner, more]).toEqual([expect.anything(), []]);
    for (const other of made.filter(({ kind }) => kind !== 'done'))
      expect(other).toEqual(expect.objectContaining({ by: expect.stringContaining(winner ?? '') }));
    expect(await dying.end('wanted', 2)).toMatchObject({ kind: 'answer', answer: 'ok,ok' });
    const redriven = (await dying.all(topics.steps)).filter(({ headers }) => headers[redriveHeader] !== undefined);
    expect(redriven).toHaveLength(1);
  });

  it('waits for the one who has begun, for a minute, and is then made by another; who comes back makes it no more', async () => {
    const { bus, ledger, clock } = dying.runtime;
    let goOn = (): void => undefined;
    const asleep = new Promise<void>((resolve) => (goOn = resolve));
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const slow: Ledger = Object.assign(Object.create(ledger) as Ledger, {
      settle: async (...claim: Parameters<Ledger['settle']>) => {
        begun();
        await asleep;
        return ledger.settle(...claim);
      },
    });
    const ann = redrive(letter, plan, 'ann', { bus, ledger: slow, clock });
    await hasBegun;
    const bob = await redrive(letter, plan, 'bob', { bus, ledger, clock });
    expect(bob).toEqual({ kind: 'busy', by: expect.stringContaining('ann') });
    const later = { now: () => clock.now() + 61_000 };
    expect(await redrive(letter, plan, 'bob', { bus, ledger, clock: later })).toEqual({ kind: 'done' });
    goOn();
    await expect(ann).rejects.toThrow();
    expect(await dying.end('wanted', 2)).toMatchObject({ kind: 'answer', answer: 'ok,ok' });
    const redriven = (await dying.all(topics.steps)).filter(({ headers }) => headers[redriveHeader] !== undefined);
    expect(redriven).toHaveLength(1);
    expect([...dying.effects.values()]).toEqual([1, 1]);
  });
});

describe('a redrive that was cut off', () => {
  it('before its record was on the log is made to the end by the next one, and a copy of it changes nothing', async () => {
    const dying = await startDying();
    try {
      dying.cutModel();
      await dying.publish('cut');
      await dying.end('cut');
      dying.mend();
      const letter = await letterAt(await dying.letterOf('cut'), dying.bus);
      if (letter === undefined) throw new Error('There is no letter.');
      const plan = planRedrive(letter, { identity: false, isAskerKept: false, now: Date.now(), before: null });
      if (plan.kind === 'refused') throw new Error(plan.why);
      const { ledger, clock } = dying.runtime;
      const read: Bus['read'] = (topics, options) => dying.bus.read(topics, options);
      const lost = { ...dying.bus, read, publish: () => Promise.reject(new Error('The wire was cut.')) } as Bus;
      await expect(redrive(letter, plan, 'ann', { bus: lost, ledger, clock })).rejects.toThrow('The wire was cut.');

      const published: Outgoing[] = [];
      const bus = {
        ...lost,
        publish: async (messages: readonly Outgoing[]) => {
          published.push(...messages);
          await dying.bus.publish(messages);
        },
      };
      expect(await redrive(letter, plan, 'bob', { bus, ledger, clock })).toEqual({ kind: 'done' });
      expect(await dying.end('cut', 2)).toMatchObject({ kind: 'answer', answer: 'ok,ok' });
      expect(await redrive(letter, plan, 'eve', { bus, ledger, clock })).toMatchObject({ kind: 'before', by: 'ann' });
      expect(published).toHaveLength(1);

      await dying.bus.publish(published);
      await eventually(async () =>
        (await dying.all(topics.deadLetters)).find(({ record }) => record.code === 'replayed'),
      );
      expect(await dying.responses('cut')).toHaveLength(2);
      expect([...dying.effects.values()]).toEqual([1, 1]);
      const decisions = await replayed(dying.runtime.bus, null);
      expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    } finally {
      await dying.close();
    }
  });
});

describe('a redrive of a run whose time is over', () => {
  it('gives it the time of a new one', async () => {
    const dying = await startDying({ limits: { run_seconds: 2 } });
    try {
      const cuts = { model: () => dying.cutModel(), steps: () => dying.cutLedger('turn/agent.steps') };
      for (const [id, cut] of Object.entries(cuts)) {
        cut();
        await dying.publish(id);
        const { run } = await dying.end(id);
        dying.mend();
        await eventually(async () => (Date.now() > (run?.deadline ?? Infinity) ? true : undefined));
        await dying.command('redrive', await dying.letterOf(id));
        expect(await dying.end(id, 2)).toMatchObject({ kind: 'answer', answer: 'ok,ok' });
      }
    } finally {
      await dying.close();
    }
  });
});

describe('a redrive of a turn whose grant has expired', () => {
  const hour = 3_600_000;

  it.each([
    ['before its calls', 'turn/agent.tool-calls', 1],
    ['between two effects', 'effect/expired/1/1/', 0],
  ])('that died %s does each effect once', async (_, prefix, expired) => {
    const dying = await startDying({ limits: { run_seconds: 36_000 } });
    try {
      dying.cutLedger(prefix);
      await dying.publish('expired');
      await dying.end('expired');
      dying.mend();
      dying.later(hour);
      await dying.command('redrive', await dying.letterOf('expired'));
      expect(await dying.end('expired', 2)).toMatchObject({ kind: 'answer', answer: 'ok,ok' });
      expect([...dying.effects.values()]).toEqual([1, 1]);
      const metrics = await dying.runtime.metrics.registry.metrics();
      expect(metrics).toContain(`sluice_expired_grants_total ${expired}\n`);
    } finally {
      await dying.close();
    }
  });
});

describe('a redrive of an approval’s outcome', () => {
  it('goes on with what was decided', async () => {
    const dying = await startDying({ policy: { approval: { effects: ['external_side_effect'], approvers: ['*'] } } });
    try {
      const approve = async (n: number): Promise<void> => {
        const asked = await eventually(
          async () => (await dying.all(topics.approvals)).filter(({ record }) => record.requested !== null)[n - 1],
        );
        const { approvalId, requestId, sessionId, argumentsHash } = asked.record.requested ?? ({} as never);
        const decided = make.approvalDecided({
          ...{ approvalId, requestId, sessionId, argumentsHash },
          ...{ decision: 'approve', decidedBy: 'user:ann', reason: '', decidedAt: Date.now() },
          ...{ requestedPartition: asked.partition, requestedOffset: asked.offset },
        });
        const record = make.approval({ decided });
        await dying.bus.publish([{ topic: topics.approvals, key: sessionId, record }]);
      };
      await dying.publish('parked');
      dying.cutLedger('resumed/');
      await approve(1);
      expect(await dying.end('parked')).toMatchObject({ kind: 'error', error: { code: 'dead_lettered' } });
      dying.mend();
      expect((await dying.command('redrive', await dying.letterOf('parked'))).output).toContain('what was decided');
      await approve(2);
      expect(await dying.end('parked', 2)).toMatchObject({ kind: 'answer', answer: 'ok,ok' });
      expect([...dying.effects.values()]).toEqual([1, 1]);
    } finally {
      await dying.close();
    }
  });
});
