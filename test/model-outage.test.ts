import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { workflowConfiguration } from './harness/configurations.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

describe('a model that is away', () => {
  let away = Infinity;
  const model = new ScriptedModel(() => {
    if (Date.now() < away) throw new Fault('model_unreachable', 'Nobody listens on model.internal:8443.', true);
    return { answer: 'back' };
  });
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), model);
  });
  afterAll(() => system.close());

  it('is asked until the run’s deadline; then the run ends with model_failed, and callers read nothing of where it is', async () => {
    const deadline = Date.now() + 1_500;
    const response = await system.ask({ requestId: 'away', deadline });
    expect(response).toMatchObject({
      error: { code: 'model_failed', message: 'The model could not be reached, however often it was asked.' },
      run: { deadline },
    });
    expect(response.endedAt).toBeGreaterThan(deadline - 500);
    expect(response.endedAt).toBeLessThan(deadline);
    const [letter] = await system.all('agent.dead-letters');
    expect(letter?.record).toMatchObject({
      code: 'retries_exhausted',
      lastFault: 'model_unreachable',
      reason: expect.stringMatching(/model\.internal:8443/),
    });
    expect(letter?.record.attempts).toBeLessThan(15);
  });

  it('and the log says so at its first failure, not at each', async () => {
    const said = (await system.lines()).filter(({ code }) => code === 'model_unreachable');
    expect(said).toMatchObject([
      {
        msg: 'Nobody listens on model.internal:8443. The record is tried again.',
        group: 'agent',
        topic: 'agent.toolsets',
        attempt: 1,
      },
    ]);
  });

  it('and comes back within the run’s time gives its answer', async () => {
    away = Date.now() + 500;
    expect(await system.ask({ requestId: 'back' })).toMatchObject({ kind: 'answer', answer: 'back' });
  });

  it('leaves ends that a replay makes once more to the byte', async () => {
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ kind }) => kind === 'end')).toHaveLength(2);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
