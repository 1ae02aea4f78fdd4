import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { KafkaReader } from '../../cluster/reader.js';
import type { Program } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { startTimeout } from '../../infra/client.ts';

const runs = 64;

describe('kill -9 while 64 runs at once come up to a total and a budget, on Kafka and PostgreSQL', () => {
  let endpoint: ScriptedEndpoint;
  let cluster: Cluster;
  let agents: Program[];
  let executors: Program[];
  let reader: KafkaReader;
  let database: pg.Client;

  beforeAll(async () => {
    endpoint = await scriptedEndpoint([['core__note', '{}']], 300);
    cluster = await openCluster(
      `
model: { provider: openai-compatible, name: scripted, base_url: "${endpoint.baseUrl}", max_output_tokens: 1000 }
tool:
  note: { type: get_current_time, group: [notes] }
rules:
  few: { tools: [note], totals: [{ of: calls, at_most: 20, per: tenant, within: 1h }] }
policy:
  allowed_tools: [note]
  approval: { none: "A test." }
  budgets: { spans: [{ per: tenant, within: 1h, tokens: 40000 }] }
limits: { run_seconds: 200 }
`,
      { SLUICE_DRAIN_SECONDS: '1' },
    );
    database = new pg.Client({ connectionString: cluster.variables['DATABASE_URL'] });
    await database.connect();
    [agents, executors] = await Promise.all([
      Promise.all([cluster.start('agent'), cluster.start('agent')]),
      Promise.all([cluster.start('executor'), cluster.start('executor')]),
      cluster.start('filter'),
    ]);
    reader = await KafkaReader.open(cluster);
  }, startTimeout);
  afterAll(async () => {
    await reader?.close();
    await database?.end();
    await cluster?.close();
    await endpoint?.close();
  });

  /** What the ledger counts of the tenant, in whole units, by item. */
  async function counted(): Promise<Readonly<Record<string, number>>> {
    const schema = pg.escapeIdentifier(`sluice_${cluster.prefix}`);
    const { rows } = await database.query<{ item: string; units: number }>(
      `select item, (sum(amount) / 1000000)::float8 as units from ${schema}.sluice_past_calls group by item`,
    );
    return Object.fromEntries(rows.map(({ item, units }) => [item, units]));
  }

  it('none passes the total or the budget, and every run ends', async () => {
    const ids = Array.from({ length: runs }, (_, n) => `r-${n}`);
    await reader.publishJson(
      ids.map((id) => ({ question: 'Note it', group: ['notes'], request_id: id, session_id: `s-${id}` })),
    );
    const most = { calls: 0, tokens: 0 };
    let isKilled = false;
    for (const until = Date.now() + 240_000; reader.ended.size < runs && Date.now() < until;) {
      const { 'call/core__note': calls = 0, 'model/tokens': tokens = 0 } = await counted();
      most.calls = Math.max(most.calls, calls);
      most.tokens = Math.max(most.tokens, tokens);
      // In the middle of model calls: each takes 300 ms, and reservations stand in the ledger.
      if (!isKilled && calls > 3) {
        isKilled = true;
        agents[0]?.process.kill('SIGKILL');
        executors[0]?.process.kill('SIGKILL');
        await Promise.all([agents[0]?.ended, executors[0]?.ended]);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect([reader.ended.size, isKilled]).toEqual([runs, true]);
    expect(most.calls).toBeGreaterThan(10);
    expect(most.calls).toBeLessThanOrEqual(20);
    expect(most.tokens).toBeGreaterThan(20_000);
    expect(most.tokens).toBeLessThanOrEqual(40_000);
    const outcomes = [...reader.steps.values()].flat().map(({ outcome, reason }) => reason ?? outcome);
    expect(outcomes.filter((one) => one === 'ok').length).toBeLessThanOrEqual(20);
  }, 300_000);
});
