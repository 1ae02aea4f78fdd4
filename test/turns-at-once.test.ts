import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { workflowConfiguration } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';
import { ScriptedModel, startSystem } from './harness/system.js';

it('an agent has 256 turns under way at a time, so that a slow model takes no more memory than there is; the others follow', async () => {
  let answer: (said: { readonly answer: string }) => void = () => undefined;
  const answered = new Promise<{ readonly answer: string }>((resolve) => (answer = resolve));
  const model = new ScriptedModel(() => answered);
  const system = await startSystem(workflowConfiguration(), model);
  try {
    const ids = Array.from({ length: 300 }, (_, n) => `r-${n}`);
    await system.bus.publish(
      ids.map((id) => ({
        topic: topics.requests,
        key: id,
        record: newRequest('Go', { requestId: id, sessionId: id }),
      })),
    );
    await eventually(
      () => model.asked.length,
      (asked) => asked >= 256,
    );
    await delay(500);
    expect(model.asked).toHaveLength(256);
    answer({ answer: 'done' });
    await eventually(
      () => system.all(topics.responses),
      (responses) => responses.length >= ids.length,
    );
    const responses = await system.all(topics.responses);
    expect(responses.map(({ record }) => record.requestId).sort()).toEqual([...ids].sort());
    expect(model.asked).toHaveLength(ids.length);
  } finally {
    await system.close();
  }
});
