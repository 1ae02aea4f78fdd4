import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { hops, startDying } from '../dead-letters/dying.js';
import type { Dying } from '../dead-letters/dying.js';
import { localHeaders } from '../harness/local-headers.js';
import { chunksOf, messageOf, streamed } from './over-http.js';

describe('a run that was re-driven, looked up over HTTP', () => {
  let dying: Dying;
  let gateway: Gateway;
  beforeAll(async () => {
    dying = await startDying();
    gateway = await startGateway(dying.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await dying.close();
  });

  it.each(hops.map(([where, , , cut], index) => [where, cut, `hop-${index}`] as const))(
    'ends as its last attempt did where the first died %s',
    async (_, cut, id) => {
      const place = `${gateway.url}/v1/runs/${id}?session_id=session-of-${id}&since=0`;
      const ended = async (): Promise<unknown> => (await fetch(place, { headers: localHeaders(dying.runtime) })).json();
      cut(dying);
      await dying.publish(id);
      const { error } = await dying.end(id);
      expect(await ended()).toMatchObject({ status: 'ended', kind: 'error', error });
      dying.mend();
      await dying.command('redrive', await dying.letterOf(id));
      await dying.end(id, 2);

      expect(await ended()).toMatchObject({ status: 'ended', kind: 'answer', answer: 'ok,ok' });
      const { status, parts, metadata } = await messageOf(
        await chunksOf(await fetch(place, { headers: { ...streamed, ...localHeaders(dying.runtime) } })),
      );
      expect(status).toEqual({ type: 'complete', reason: 'stop' });
      const calls = parts.filter(({ type }) => type === 'tool-call');
      expect(calls).toMatchObject([1, 2].map((n) => ({ state: 'result', isError: false, result: { done: n } })));
      expect(metadata.steps).toHaveLength(2);
    },
  );
});
