import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Program } from '../harness/program.js';
import { startTimeout } from '../infra/client.ts';
import { openActing } from './acting.js';
import type { Acting } from './acting.js';
import type { Cluster, Role } from './cluster.js';
import type { EffectServer } from './effect-server.js';
import { KafkaReader } from './reader.js';

describe('a new version of every service, one instance after another, under load', () => {
  let opened: Acting | undefined;
  let effects: EffectServer;
  let cluster: Cluster;
  beforeAll(async () => {
    opened = await openActing(1);
    ({ effects, cluster } = opened);
  }, startTimeout);
  afterAll(() => opened?.close(), 60_000);

  it('loses nothing and does nothing twice: one answer a run, steps without gap or repeat, each effect once', async () => {
    const roles: readonly Role[] = ['filter', 'agent', 'executor'];
    const running = await Promise.all(roles.map(async (role) => ({ role, program: await cluster.start(role) })));
    const reader = await KafkaReader.open(cluster);
    let asked = 0;
    let restarting = true;
    const asking = (async () => {
      // Until the last instance is there, so that each of them is replaced while there is work; never more than a
      // slow machine can do.
      for (; restarting; asked += 5) {
        const ids = Array.from({ length: 5 }, (_, n) => asked + n);
        await reader.publishJson(
          ids.map((n) => ({ question: 'Do it', group: ['work'], request_id: `r-${n}`, session_id: `s-${n}` })),
        );
        while (restarting && asked - reader.ended.size >= 15) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const codes: (number | null)[] = [];
    try {
      await reader.until(() => reader.ended.size >= 5, 180_000);
      for (const { role, program } of running) {
        codes.push(await replace(role, program));
        const before = reader.ended.size;
        await reader.until(() => reader.ended.size >= before + 5, 180_000);
      }
    } finally {
      restarting = false;
      await asking;
    }
    try {
      await reader.until(() => reader.ended.size >= asked, 180_000);
      // Whatever somebody might still have to say would come now.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    } finally {
      await reader.close();
    }

    expect(codes).toEqual(running.map(() => 0));
    expect(asked).toBeGreaterThan(15);
    expect(reader.responses.length).toBe(asked);
    expect(reader.responses.filter(({ kind }) => kind !== 'answer')).toEqual([]);
    const all = [...reader.steps.values()];
    expect(all.map((steps) => steps.map(({ iteration }) => iteration))).toEqual(all.map(() => [1, 2]));
    expect(all).toHaveLength(asked);
    // An instance that the machine gave no time for longer than the session timeout leaves a call open, and says so.
    const unknown = all.flat().filter(({ reason }) => reason === 'outcome_unknown').length;
    expect(all.flat().filter(({ outcome, reason }) => outcome !== 'ok' && reason !== 'outcome_unknown')).toEqual([]);
    const counts = [...effects.done.values()];
    expect(counts.filter((count) => count !== 1)).toEqual([]);
    expect(counts.length).toBeGreaterThanOrEqual(asked - unknown);
    expect(await cluster.command('dead-letters', 'list')).toBe('There are no dead letters.\n');
  }, 600_000);

  /** As an orchestrator does: the new one comes, then the old one is asked to end. */
  async function replace(role: Role, old: Program): Promise<number | null> {
    await cluster.start(role);
    old.process.kill('SIGTERM');
    return (await old.ended).code;
  }
});
