import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Fault } from '@sluice/core';
import type { Bus } from '@sluice/bus';
import { all, entries, entry, eventually, onLog, publishPatiently, questionOf, request, testMs } from './harness.js';
import type { BusHarness } from './harness.js';

interface Work {
  readonly session: string;
  /** How long each attempt takes, milliseconds. */
  readonly takes: number;
  /** How many attempts fail before one works. */
  readonly faults: number;
  readonly dies: boolean;
  /** How many outputs it has. */
  readonly outputs: number;
}

const sessions = ['a', 'b', 'c', 'd'] as const;

const work: fc.Arbitrary<Work> = fc.record({
  session: fc.constantFrom(...sessions),
  takes: fc.integer({ min: 0, max: 6 }),
  faults: fc.nat(2),
  dies: fc.nat(5).map((chance) => chance === 0),
  outputs: fc.nat(3),
});

/** A record that each session gets last: once it has its output, what would come twice of those before it has come. */
const sentinel: Omit<Work, 'session'> = { takes: 0, faults: 0, dies: false, outputs: 1 };

/** After how many handler calls, counted from the restart before, the process dies. */
const crashes = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 3 });

export function property(harness: BusHarness): void {
  const { histories = 25, historiesMs = 40_000 } = harness;
  it(
    'has every record’s outputs, or its dead letter, exactly once and in the session’s order',
    async () => {
      const since = Date.now();
      let held = 0;
      // On a busy machine one history may take longer than all of them should; one always counts.
      const over = (): boolean => held > 0 && Date.now() - since > historiesMs;
      await fc.assert(
        fc.asyncProperty(
          fc.array(work, { minLength: 1, maxLength: 30 }),
          crashes,
          fc.integer({ min: 1, max: 8 }),
          async (drawn, dying, maxInFlight) => {
            if (over()) return;
            await onLog(harness, async (log) => {
              const records = [...drawn, ...sessions.map((session) => ({ ...sentinel, session }))];
              let calls = 0;
              const consume = (bus: Bus) =>
                bus.subscribe({
                  group: 'any',
                  topics: ['agent.requests'],
                  maxInFlight,
                  retry: { initialMs: 1, maxMs: 4, attempts: 3 },
                  handle: async (message, { attempt }) => {
                    calls++;
                    const { takes, faults, dies, outputs } = records[Number(questionOf(message))] as Work;
                    await delay(takes);
                    if (attempt <= faults) throw new Fault('model_unreachable', 'No answer.', true);
                    if (dies) throw new Error('It dies.');
                    return Array.from({ length: outputs }, (_, index) =>
                      entry(message, `${questionOf(message)}/${index}`),
                    );
                  },
                });
              const requests = records.map(({ session }, index) => request(session, String(index)));
              await publishPatiently(log.bus, requests.slice(0, drawn.length));
              await consume(log.bus);
              let bus = log.bus;
              for (const after of dying) {
                const until = calls + after;
                const isThere = async () => calls >= until || (await isThrough(bus, drawn));
                await eventually('work before a crash', isThere);
                bus = await log.reopen();
                await consume(bus);
              }
              await eventually('the end of all work', () => isThrough(bus, drawn));
              await publishPatiently(bus, requests.slice(drawn.length));
              await eventually('what comes after all work', () => isThrough(bus, records));
              for (const session of sessions) expect(await entries(bus, session)).toEqual(outputsOf(session, records));
              const letters = await all(bus, 'agent.dead-letters');
              expect(letters.map(({ record }) => record.offset).sort((a, b) => a - b)).toEqual(
                await deadOffsets(bus, records),
              );
            });
            held++;
          },
        ),
        { numRuns: Math.ceil(histories / 2), endOnFailure: true },
      );
    },
    testMs + historiesMs,
  );
}

function outputsOf(session: string, records: readonly Work[]): readonly string[] {
  return records.flatMap((record, index) =>
    record.session === session && !record.dies
      ? Array.from({ length: record.outputs }, (_, output) => `${index}/${output}`)
      : [],
  );
}

async function isThrough(bus: Bus, records: readonly Work[]): Promise<boolean> {
  const expected = records.reduce((sum, { dies, outputs }) => sum + (dies ? 1 : outputs), 0);
  const found = await all(bus, 'agent.audit', 'agent.dead-letters');
  return found.length >= expected;
}

async function deadOffsets(bus: Bus, records: readonly Work[]): Promise<readonly number[]> {
  const requests = await all(bus, 'agent.requests');
  const offsets = requests.filter(({ record }) => records[Number(record.question)]?.dies).map(({ offset }) => offset);
  return offsets.sort((a, b) => a - b);
}
