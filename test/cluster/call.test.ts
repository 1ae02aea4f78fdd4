import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../harness/eventually.js';
import { startTimeout } from '../infra/client.ts';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';

// No key for the model is set: a run that asked it would fail.
const configuration = `
tool:
  now: { type: get_current_time, group: [work] }
  todo: { type: add_todo, group: [write], state: planned }
policy: { allowed_tools: [now, todo], approval: { approvers: ['user:ann'], effects: [state_change] } }
model: { provider: anthropic, name: not-asked }
`;

describe('`sluice call` on Kafka', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await openCluster(configuration);
    await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
  }, startTimeout + 60_000);
  afterAll(() => cluster?.close(), 60_000);
  const call = async (...words: string[]) =>
    JSON.parse(await cluster.command('call', ...words, '--json')) as Record<string, unknown> & { session_id: string };

  it('runs a tool through the services without a model, and leaves records that replay to the byte', async () => {
    const done = await call('now', '{"timezone":"Asia/Tokyo"}', '--group', 'work');
    expect(done).toMatchObject({
      tool: 'now',
      outcome: 'ok',
      error: null,
      observation: expect.stringContaining('Asia/Tokyo'),
    });
    const replayed = await cluster.command('replay', '--session', done.session_id, '--json');
    expect(JSON.parse(replayed)).toMatchObject({ replayed: 2, equal: 2, different: 0 });
  });

  it.each([
    ['todo', 'work', 'not_eligible_group'],
    ['core__todo', 'none', 'not_eligible_group'],
  ])(
    'refuses %s for the group %s, as it refuses a model',
    async (tool, group, reason) => {
      await expect(cluster.command('call', tool, '{"task":"x"}', '--group', group, '--json')).rejects.toThrow(reason);
    },
    60_000,
  );

  it('waits for an approval, and claims the effect as any other call does', async () => {
    const calling = call('todo', '{"task":"Try it"}', '--group', 'write');
    const open = await eventually(
      () => cluster.command('approvals', 'list', '--json'),
      (listed) => listed.includes('approval_id'),
    );
    const { approval_id: id } = JSON.parse(open) as { approval_id: string };
    await cluster.command('approvals', 'approve', id, '--as', 'user:ann');
    expect(await calling).toMatchObject({ tool: 'todo', outcome: 'ok', state: 'planned' });
  });

  it('names a near tool for one that the configuration in force does not have', async () => {
    await expect(cluster.command('call', 'noww')).rejects.toThrow('Did you mean now?');
  });
});
