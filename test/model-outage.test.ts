import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { workflowConfiguration } from './harness/configurations.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { eventually } from './harness/eventually.js';
import { Story } from '../apps/sluice/src/show/story.js';
import { RunParts } from '../apps/gateway/src/stream/parts.js';
import { RunProgress } from '../apps/gateway/src/run-progress.js';
import { running } from '../apps/gateway/src/run-json.js';
import type { AgentProgress } from '@sluice/contracts';
import { waitingOf } from '@sluice/run';
import type { Waiting } from '@sluice/run';
import type { Incoming } from '@sluice/bus';
import { replayed } from './replay/replaying.js';

const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof Story>[1];
const place = { requestId: 'told', sessionId: 'told', since: 0 };

/** What these records are for whoever asked, on a stream over HTTP, and in the run’s JSON. */
function shownOf(messages: readonly Incoming[]) {
  let story = '';
  const [tells, parts, progress] = [new Story((text) => (story += text), plain), new RunParts(), new RunProgress()];
  const events: unknown[] = [];
  for (const message of messages) {
    tells.tell(message);
    progress.add(message);
    for (const chunk of parts.of(message))
      if (chunk.type === 'part-start' && chunk.part.type === 'data')
        events.push({ name: chunk.part.name, data: chunk.part.data });
  }
  return { story, events, progress };
}

describe('a model that is away', () => {
  let away = Infinity;
  const model = new ScriptedModel(() => {
    if (Date.now() < away)
      throw new Fault('model_unreachable', 'Nobody listens on model.internal:8443.', true, {
        brief: 'connection refused',
      });
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
    // It is asked no more once that would be too late; writing the end takes a moment.
    expect(response.endedAt).toBeLessThan(deadline + 1_000);
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

  it('is reported to those who follow, with the time of the next try and without its address', async () => {
    away = Infinity;
    const { runtime } = system.embedded;
    const asked = system.ask({ requestId: 'told' });
    const waiting = await eventually(
      () => waitingOf('told', 'local', runtime),
      (found) => found !== null,
    );
    expect(waiting).toEqual({ iteration: 1, since: expect.any(Number), reason: 'connection refused' });
    const retries = (await system.all('agent.progress')).filter(
      ({ record: { kind, requestId } }) => kind === 'model_retry' && requestId === 'told',
    );
    const first = retries[0]?.record as AgentProgress;
    expect(first).toMatchObject({ text: 'connection refused', iteration: 1, toolCallId: null });
    expect(Number(first.retryAt)).toBeGreaterThan(first.at);
    expect(first.sequence).toBeGreaterThan(0);
    const [toolset] = (await system.all('agent.toolsets')).filter(({ record }) => record.requestId === 'told');
    const shown = shownOf([toolset, ...retries].filter((one) => one !== undefined));
    expect(shown.story).toMatch(/waits +the model is asked again in \d+ s: connection refused/);
    expect(shown.events).toContainEqual({
      name: 'model_retry',
      data: { iteration: 1, attempt: first.sequence, reason: 'connection refused', retry_at: first.retryAt },
    });
    expect(running(place, shown.progress, waiting)).toMatchObject({ status: 'running', waiting });
    expect(running(place, shown.progress, { ...(waiting as Waiting), iteration: 2 })).not.toHaveProperty('waiting');
    away = 0;
    expect((await asked).answer).toBe('back');
    expect(await waitingOf('told', 'local', runtime)).toBeNull();
  });

  it('leaves ends that a replay makes once more to the byte', async () => {
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ kind }) => kind === 'end')).toHaveLength(3);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
