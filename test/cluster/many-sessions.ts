import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTimeout } from '../infra/client.ts';
import { openActing } from './acting.js';
import type { Acting } from './acting.js';
import type { Cluster } from './cluster.js';
import type { EffectServer } from './effect-server.js';
import { KafkaReader } from './reader.js';

/** As upstream systems come: not all at once, but a wave a second, for this many seconds. */
const waves = 25;

async function publishInWaves(reader: KafkaReader, sessions: number): Promise<void> {
  const wave = Math.ceil(sessions / waves);
  for (let from = 0; from < sessions; from += wave) {
    const ids = Array.from({ length: Math.min(wave, sessions - from) }, (_, n) => from + n);
    await reader.publishJson(
      ids.map((n) => ({ question: 'Do it', group: ['work'], request_id: `r-${n}`, session_id: `s-${n}` })),
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** Twice each service, of which an executor is killed and an agent paused while the sessions go on. */
export function manySessions(sessions: number): void {
  describe(`${sessions} sessions, two instances of each service, one killed and one paused on the way`, () => {
    let opened: Acting | undefined;
    let effects: EffectServer;
    let cluster: Cluster;
    beforeAll(async () => {
      opened = await openActing(2);
      ({ effects, cluster } = opened);
    }, startTimeout);
    afterAll(() => opened?.close(), 60_000);

    it('ends with exactly one answer a session, steps without gap or repeat, each effect once or declared unknown', async () => {
      const [, , , agent, executor] = await Promise.all([
        cluster.start('filter'),
        cluster.start('filter'),
        cluster.start('agent'),
        cluster.start('agent'),
        cluster.start('executor'),
        cluster.start('executor'),
      ]);
      const reader = await KafkaReader.open(cluster);
      try {
        const publishing = publishInWaves(reader, sessions);
        await reader.until(() => reader.ended.size >= sessions / 10, 60_000);
        executor?.process.kill('SIGKILL');
        agent?.process.kill('SIGSTOP');
        await new Promise((resolve) => setTimeout(resolve, 15_000));
        agent?.process.kill('SIGCONT');
        await publishing;
        await reader.until(() => reader.ended.size >= sessions, 180_000);
        // Whatever a zombie might still have to say would come now.
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      } finally {
        await reader.close();
      }

      expect(reader.responses.length).toBe(sessions);
      expect(reader.responses.filter((response) => response.kind !== 'answer')).toEqual([]);
      let unknown = 0;
      for (const [requestId, steps] of reader.steps) {
        expect([requestId, steps.map((step) => step.iteration)]).toEqual([requestId, [1, 2, 3]]);
        unknown += steps.filter((step) => step.reason === 'outcome_unknown').length;
        expect(steps.filter((step) => step.outcome !== 'ok' && step.reason !== 'outcome_unknown')).toEqual([]);
      }
      expect(reader.steps.size).toBe(sessions);
      const counts = [...effects.done.values()];
      expect(counts.filter((count) => count !== 1)).toEqual([]);
      expect(counts.length).toBeGreaterThanOrEqual(2 * sessions - unknown);
      // What was under way when one was killed and one was paused, and no more: a wave or two, on a busy machine more.
      expect(unknown).toBeLessThan(Math.max(sessions / 5, 100));
      console.log(`${sessions} sessions, ${counts.length} effects done once each, ${unknown} declared outcome_unknown`);
    }, 300_000);
  });
}
