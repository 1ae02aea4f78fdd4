import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Program } from '../harness/program.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

const configuration = (model: string): string => `
tool:
  knowledge-query: { type: knowledge-query, group: [read] }
  graph-update: { type: graph-update, group: [write] }
policy: { allowed_tools: [knowledge-query, graph-update] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;
const change = JSON.stringify({ add: [{ subject: 'Sluice', predicate: 'is written in', object: 'TypeScript' }] });
const question = JSON.stringify({ entity: 'Sluice', relation: 'is written in' });

describe('the knowledge graph of several executors', () => {
  let model: ScriptedEndpoint;
  let cluster: Cluster;
  beforeAll(async () => {
    const script = (turn: number, [offered = '']: readonly string[]): readonly [string, string] | undefined =>
      turn > 0 ? undefined : [offered, offered === 'core__graph-update' ? change : question];
    model = await scriptedEndpoint(script, 5);
    cluster = await openCluster(configuration(model.baseUrl));
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await model?.close();
  });

  /** As on hosts of their own: nothing is shared but Kafka and the database. */
  const executor = (name: string): Promise<Program> =>
    cluster.start('executor', { SLUICE_DATA: join(cluster.variables['SLUICE_DATA'] ?? '', name) });

  it('is one: what one of them changed every one has, also one that starts later (XB-18)', async () => {
    const [, , first] = await Promise.all([
      cluster.start('filter'),
      cluster.start('agent'),
      executor('first'),
      executor('second'),
    ]);
    await cluster.command('ask', 'Write it', '--group', 'write');
    // Enough sessions that both executors have some.
    await Promise.all(Array.from({ length: 8 }, () => cluster.command('ask', 'Read it', '--group', 'read')));
    first.process.kill('SIGKILL');
    await first.ended;
    await executor('third');
    await cluster.command('ask', 'Read it', '--group', 'read');

    const steps = await cluster.command('tail', '--topic', 'agent.steps', '--from', 'start', '--once', '--json');
    const observed = steps
      .trim()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { record: { steps: { observation: string }[] } }).record.steps)
      .map(({ observation }) => JSON.parse(observation) as object);
    const read = { rows: [{ 'is written in': 'TypeScript' }], count: 1 };
    expect(observed).toEqual([{ added: 1, removed: 0, already_done: false }, ...Array<object>(9).fill(read)]);
  });
});
