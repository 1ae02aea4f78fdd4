import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCluster } from '../cluster/cluster.js';
import type { Cluster, Role } from '../cluster/cluster.js';
import { KafkaReader } from '../cluster/reader.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../harness/scripted-endpoint.js';
import { startTimeout } from '../infra/client.ts';
import { Watching } from './prometheus.js';
import { dashboards, inPlaceOfVariables, panelsOf } from './promql.js';

const configuration = (model: string): string => `
tool:
  now: { type: get_current_time, group: [work] }
policy: { allowed_tools: [now] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
`;

const roles: readonly Role[] = ['filter', 'agent', 'executor'];
/** So many partitions has each topic of a test's cluster. */
const partitions = 4;

describe('separate services on Kafka under a real Prometheus', () => {
  let model: ScriptedEndpoint;
  let cluster: Cluster;
  let reader: KafkaReader;
  let prometheus: Watching;
  beforeAll(async () => {
    model = await scriptedEndpoint([['core__now', '{}']], 5);
    [cluster, prometheus] = await Promise.all([openCluster(configuration(model.baseUrl)), Watching.start()]);
    const services = await Promise.all(
      roles.map(async (role) => {
        const program = await cluster.start(role);
        return { role, url: /"url":"([^"]+)"/.exec(program.said())?.[1] ?? '' };
      }),
    );
    reader = await KafkaReader.open(cluster);
    await prometheus.at(...services);
  }, startTimeout);
  afterAll(async () => {
    await prometheus?.release();
    await reader?.close();
    await cluster?.close();
    await model?.close();
  });

  const now = async (expr: string): Promise<number> => (await prometheus.values(expr))[0] ?? NaN;

  it('show for every partition how much of it is not finished, and come to nothing when all is done', async () => {
    for (let round = 0; round < 4; round++) {
      const ids = Array.from({ length: 8 }, (_, n) => `run-${round}-${n}`);
      await reader.publishJson(ids.map((id) => ({ question: 'Go', request_id: id, session_id: id, group: ['work'] })));
      await reader.until(() => ids.every((id) => reader.ended.has(id)), 60_000);
    }
    await prometheus.until(
      'every partition to be told of',
      async () =>
        (await now('count(sluice_lag_records{consumer_group="executor", topic="agent.tool-calls"})')) === partitions,
    );
    await prometheus.until('no backlog', async () => (await now('sum(sluice_lag_records)')) === 0);
    // One scrape may find a service that does not answer in time, so this is waited for as well.
    await prometheus.until(
      'all topics of the filter, whole',
      async () => (await now('count by (role) (sluice_lag_records{role="filter"})')) === 3 * partitions,
    );
  });

  it('count transactions and rebalances, each for its own group', async () => {
    for (const role of roles) {
      const own = `{role="${role}", consumer_group="${role}"`;
      for (const counted of [`sluice_transactions_total${own}, outcome="committed"}`, `sluice_rebalances_total${own}}`])
        await prometheus.until(counted, async () => (await now(counted)) > 0);
    }
    expect(await now('count(sluice_transactions_total{role="filter", consumer_group!="filter"}) or vector(0)')).toBe(0);
  });

  it('show data in every panel of the dashboard of processes and log', async () => {
    const runtime = dashboards().get('sluice-runtime.json');
    for (const { title, targets = [] } of runtime === undefined ? [] : panelsOf(runtime)) {
      for (const { expr, instant = false } of targets) {
        const values = () => prometheus.values(inPlaceOfVariables(expr), instant ? 'now' : 'minute');
        await prometheus.until(`data in the panel ${title}`, async () => (await values()).length > 0);
      }
    }
    expect(runtime).toBeDefined();
  });
});
