import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { createLog, openBus, readEnvironment } from '@sluice/host';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

const configuration = (model: string, groups: string): string => `
tool:
  now: { type: get_current_time, group: [work], state: told }
  later: { type: get_current_time, group: ${groups}, available_in_states: [told] }
policy: { allowed_tools: [now, later] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

describe('a replay from Kafka', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-replay-'));
  const runs = 24;
  let model: ScriptedEndpoint;
  let cluster: Cluster;
  let bus: Bus;
  beforeAll(async () => {
    const call = (name: string) => [`core__${name}`, '{}'] as const;
    model = await scriptedEndpoint([call('now'), call('later'), call('now'), call('nothing')], 5);
    cluster = await openCluster(configuration(model.baseUrl, '[work]'));
    ({ bus } = await openBus(readEnvironment(cluster.variables), createLog('warn', process.stderr)));
  }, startTimeout);
  afterAll(async () => {
    await bus?.close();
    await cluster?.close();
    await model?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(prefix: string): Promise<void> {
    const ended = new Set<string>();
    const signal = AbortSignal.timeout(60_000);
    const responses = bus.read([topics.responses], { from: 'end', follow: true, signal });
    const requests = Array.from({ length: runs }, (_, n) => {
      const ids = { requestId: `${prefix}-${n}`, sessionId: `session-${n}` };
      return { topic: topics.requests, key: ids.sessionId, record: { ...newRequest('?', ids), group: ['work'] } };
    });
    await bus.publish(requests);
    for await (const { record } of responses) {
      if (record.requestId.startsWith(prefix)) ended.add(record.requestId);
      if (ended.size === runs) return;
    }
    throw new Error(`${ended.size} of ${runs} runs ended within a minute.`);
  }

  it('decides all runs as the services did, over partitions, instances and configurations, and so does its export', async () => {
    await Promise.all((['filter', 'agent', 'executor', 'executor'] as const).map((role) => cluster.start(role)));
    await ask('first');
    const next = join(folder, 'next.yaml');
    writeFileSync(next, configuration(model.baseUrl, '[nobody]'));
    await cluster.command('config', 'apply', next);
    await ask('second');

    const summary = async (...args: string[]) =>
      JSON.parse((await cluster.command('replay', '--json', ...args)).trim().split('\n').at(-1) ?? '') as object;
    // Five iterations a run, and of each but the last a turn and its steps; the answer ends it.
    const all = 2 * runs * (5 + 4 + 4 + 1);
    const equal = { replayed: all, equal: all, different: 0, not_replayable: 0, undecodable: 0 };
    expect(await summary()).toMatchObject(equal);
    const file = join(folder, 'log.sluice');
    expect(await cluster.command('export', file)).toContain(file);
    expect(await summary('--export', file)).toMatchObject(equal);
    expect(await summary('--session', 'session-3')).toMatchObject({ replayed: 2 * 14, equal: 2 * 14 });

    // Under the second configuration each first run would not have been offered the other tool, nor made its call.
    // Four toolsets of each, once the state was told, and the turn that called it.
    for (const from of [['--export', file], []])
      expect(await summary(...from, '--config', next)).toMatchObject({
        not_replayable: 0,
        altered: runs * (4 + 1),
        by: { tool: { later: runs * (4 + 1) } },
      });
  });
});
