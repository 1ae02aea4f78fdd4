import { afterEach, describe, expect, it } from '@jest/globals';
import { short } from '../harness/approving.js';
import { rows, lookupId, startMeasured } from '../harness/with-confidence.js';
import type { TestSystem } from '../harness/system.js';
import { step } from '../harness/with-plans.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(agents: string) {
  const steps = [step([lookupId, rows(2)])];
  const started = await startMeasured(steps, () => ({ answer: 'All is done.' }), { agents });
  system = started.opened;
  return started;
}

const two = 'What is there, and how many are there?';
const differences = async ({ bus }: TestSystem) =>
  (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');

describe('a run by auto', () => {
  it('has the strategy that the rules choose by question, tools and history, with the reason on its records', async () => {
    const { opened, end } = await running('{ default: { strategy: auto } }');
    const reacting = await end({ question: 'What is there?' });
    expect(reacting.run?.strategy).toEqual({ name: 'react', reason: 'The question has one part.', brought: 0 });
    expect([reacting.decision, reacting.history]).toEqual([null, []]);
    const planning = await end({ question: two, requestId: 'run-2', sessionId: 'session-2' });
    expect(planning.run?.strategy?.name).toBe('plan');
    expect(planning.run?.strategy?.reason).toBe(
      'The question has 2 parts, and a tool that changes something is in reach.',
    );
    expect(short(planning.history).map(([action]) => action)).toEqual(['make-plan', 'lookup']);
    const reading = { group: ['read-only'], requestId: 'run-3', sessionId: 'session-3' };
    const measuring = await end({ ...reading, question: 'How sure is it that there is something?' });
    expect([measuring.run?.strategy?.name, measuring.decision?.confidence]).toEqual(['confidence', 0.85]);
    const weak = { ...measuring.history[1], observation: '{"rows":[],"count":0}', startedAt: 1, endedAt: 2 };
    const history = [weak, { ...weak, toolCallId: 'other' }] as typeof measuring.history;
    const following = await end({ question: 'And now?', history, requestId: 'run-4', sessionId: 'session-4' });
    expect(following.run?.strategy).toEqual({
      ...{ name: 'confidence', reason: '2 of 2 steps before gave little or nothing.', brought: 2 },
    });
    const choosing = { question: two, toolChoice: 'none', requestId: 'run-5', sessionId: 'session-5' };
    expect((await end(choosing)).run?.strategy?.name).toBe('react');
    expect(await differences(opened)).toEqual([]);
  });

  it('has none that it may not choose, and none that its tools do not take', async () => {
    const { opened, end } = await running('{ default: { strategy: auto, auto: { strategies: [react, plan] } } }');
    const sure = await end({ question: 'How sure is it?' });
    expect(sure.run?.strategy?.name).toBe('react');
    const without = await end({ question: two, group: ['text'], requestId: 'run-2', sessionId: 'session-2' });
    expect(without.run?.strategy?.name).toBe('react');
    expect(await differences(opened)).toEqual([]);
  });

  it('is chosen by a request where the configuration lets it', async () => {
    const { end } = await running('{ default: { strategies: [auto] } }');
    expect((await end({ question: two })).run?.strategy).toBeNull();
    const routed = await end({ question: two, strategy: 'auto', requestId: 'run-2', sessionId: 'session-2' });
    expect(routed.run?.strategy?.name).toBe('plan');
  });
});
