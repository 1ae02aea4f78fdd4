import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Consumer } from '@sluice/bus';
import {
  all,
  deferred,
  entry,
  eventually,
  grace,
  onLog,
  publishPatiently,
  questionOf,
  request,
  testMs,
} from './harness.js';
import type { BusHarness, Deferred, TestLog } from './harness.js';

const group = 'commanded';
const sessions = ['a', 'b', 'c'] as const;
/** So many are tried, however long they take. */
const fewest = 3;

interface Published {
  readonly question: string;
  readonly session: string;
  /** Its handler does not end until this is over. */
  held: boolean;
}

/** What there must be, whatever happened. */
interface Model {
  readonly published: Published[];
  consuming: boolean;
}

/** What is handled when all that can has been: each session up to the first record that is held. */
function finishable({ published }: Model, session: string): readonly string[] {
  const own = published.filter((one) => one.session === session);
  const stuck = own.findIndex(({ held }) => held);
  return own.slice(0, stuck === -1 ? own.length : stuck).map(({ question }) => question);
}

/** The record each session waits for. */
function atWork({ published }: Model): readonly string[] {
  const first = sessions.map((session) => published.find((one) => one.session === session && one.held));
  return first.flatMap((one) => one?.question ?? []);
}

/** A consumer and those before it, which crashed or were stopped and whose handlers may still be at work. */
class Real {
  /** What the present consumer’s handler was given. */
  private given = new Set<string>();
  /** What the present one was given although it was done: nothing. One that is left behind may read on. */
  readonly again: string[] = [];
  /** Seen on the log, or told to be there. */
  private readonly done = new Set<string>();
  private gates = new Map<string, Deferred>();
  private readonly gatesBefore: Map<string, Deferred>[] = [];
  private consumer: Consumer | undefined;

  constructor(
    readonly log: TestLog,
    private readonly model: Model,
  ) {}

  async takeOver(): Promise<void> {
    const [given, gates, done] = [this.given, this.gates, this.done];
    this.consumer = await this.log.bus.subscribe({
      group,
      topics: ['agent.requests'],
      handle: async (message, { afterCommit }) => {
        const question = questionOf(message);
        if (done.has(question) && given === this.given) this.again.push(question);
        given.add(question);
        afterCommit(() => done.add(question));
        if (this.model.published.find((one) => one.question === question)?.held) {
          const gate = deferred();
          gates.set(question, gate);
          await gate.promise;
        } else await delay(Number(question) % 4);
        return [entry(message)];
      },
    });
  }

  release(question: string): void {
    this.gates.get(question)?.resolve();
  }

  async crash(): Promise<void> {
    await this.log.reopen();
    this.leaveBehind();
  }

  async stop(): Promise<void> {
    await this.consumer?.stop(50);
    this.leaveBehind();
  }

  /** Handlers of consumers that are gone end now, and want to say what they found. */
  wake(): void {
    for (const gates of this.gatesBefore) for (const gate of gates.values()) gate.resolve();
  }

  /** Waits until all is handled that can be, and holds the log to it. */
  async settle(model: Model): Promise<void> {
    const expected = sessions.map((session) => finishable(model, session));
    let found: readonly string[][] = [];
    await eventually('the end of what can be handled', async () => {
      const outputs = (await all(this.log.bus, 'agent.audit')).map(({ record }) => record);
      found = sessions.map((session) =>
        outputs.filter(({ sessionId }) => sessionId === session).map(({ details }) => details),
      );
      return found.flat().length >= expected.flat().length;
    });
    expect(found).toEqual(expected);
    for (const question of found.flat()) this.done.add(question);
    await eventually('what is held is at work', () => atWork(model).every((one) => this.given.has(one)));
    expect(this.again).toEqual([]);
  }

  private leaveBehind(): void {
    this.gatesBefore.push(this.gates);
    this.gates = new Map();
    this.given = new Set();
  }
}

type Command = fc.AsyncCommand<Model, Real>;

const publish = (records: readonly Pick<Published, 'session' | 'held'>[]): Command => ({
  check: () => true,
  run: async (model, { log }) => {
    const fresh = records.map((one, index) => ({ ...one, question: String(model.published.length + index) }));
    model.published.push(...fresh);
    await publishPatiently(
      log.bus,
      fresh.map(({ session, question }) => request(session, question)),
    );
  },
  toString: () => `publish ${records.map(({ session, held }) => session + (held ? ' (held)' : '')).join(', ')}`,
});

const takeOver: Command = {
  check: ({ consuming }) => !consuming,
  run: async (model, real) => {
    model.consuming = true;
    await real.takeOver();
  },
  toString: () => 'take over',
};

const settle: Command = {
  check: ({ consuming }) => consuming,
  run: (model, real) => real.settle(model),
  toString: () => 'handle and commit what can be',
};

const release = (which: number): Command => ({
  check: ({ published }) => published.some(({ held }) => held),
  run: async ({ published }, real) => {
    const held = published.filter((one) => one.held);
    const one = held[which % held.length] as Published;
    one.held = false;
    real.release(one.question);
  },
  toString: () => `release held ${which}`,
});

const ending = (name: string, end: (real: Real) => Promise<void>, check: Command['check']): Command => ({
  check,
  run: async (model, real) => {
    model.consuming = false;
    await end(real);
  },
  toString: () => name,
});

const crash = ending(
  'crash',
  (real) => real.crash(),
  () => true,
);
const stop = ending(
  'stop',
  (real) => real.stop(),
  ({ consuming }) => consuming,
);

/** Not before all is taken over: until then who was left behind may still commit. */
const wake: Command = {
  check: ({ consuming }) => consuming,
  run: async (model, real) => {
    await real.settle(model);
    real.wake();
  },
  toString: () => 'wake who is left behind',
};

const records = fc.array(
  fc.record({ session: fc.constantFrom(...sessions), held: fc.nat(3).map((chance) => chance === 0) }),
  { minLength: 1, maxLength: 6 },
);
const once = [takeOver, takeOver, settle, crash, stop, wake].map((command) => fc.constant(command));
const commands = fc.commands([records.map(publish), records.map(publish), fc.nat(5).map(release), ...once], {
  maxCommands: 16,
  size: 'max',
});

export function commanded(harness: BusHarness): void {
  const { histories = 25, historiesMs = 40_000 } = harness;
  it(
    'is as the model says after any commands: publish, take over, handle and commit, release, crash, stop, wake a zombie',
    async () => {
      const enough = performance.now() + historiesMs;
      let tried = 0;
      await fc.assert(
        fc.asyncProperty(commands, async (history) => {
          if (performance.now() > enough && tried >= fewest) return;
          tried++;
          await onLog(harness, async (log) => {
            const model: Model = { published: [], consuming: false };
            const real = new Real(log, model);
            await fc.asyncModelRun(() => ({ model, real }), history);
            if (!model.consuming) await takeOver.run(model, real);
            for (const one of model.published.filter(({ held }) => held)) {
              one.held = false;
              real.release(one.question);
            }
            real.wake();
            await settle.run(model, real);
            await grace();
            await settle.run(model, real);
          });
        }),
        { numRuns: histories, endOnFailure: true },
      );
    },
    2 * testMs + historiesMs,
  );
}
