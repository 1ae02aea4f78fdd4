import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { KafkaReader } from '../../cluster/reader.js';
import { startEffects } from '../../faults/parts/effects.ts';
import type { Effects } from '../../faults/parts/effects.ts';
import { watchPostgres } from '../../faults/parts/postgres-watch.ts';
import { TcpProxy } from '../../faults/parts/tcp-proxy.ts';
import type { Program } from '../../harness/program.js';
import { startTimeout } from '../../infra/client.ts';
import { freePort } from '../../infra/ports.ts';

const configuration = (effects: string): string => `
tool: { act: { type: mcp-tool } }
mcp:
  servers: { effects: { url: "${effects}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
policy: { allowed_tools: [act] }
limits: { tool_seconds: 5 }
model: { provider: anthropic, name: not-asked }
`;

const made = ['ok', 1];
const unknown = (times: number) => ['outcome_unknown', times];

describe('kill -9 of the executor, while it makes a call without a model on Kafka', () => {
  let cluster: Cluster;
  let effects: Effects;
  let reader: KafkaReader;
  let line: TcpProxy;
  let url: URL;
  let executor: Program;
  /** Told of each moment; true if the executor was killed there, so that nothing of it goes on. */
  let seen: (what: string) => boolean = () => false;
  const start = async (): Promise<Program> => (executor = await cluster.start('executor', { DATABASE_URL: url.href }));
  beforeAll(async () => {
    effects = await startEffects((what) => seen(what));
    cluster = await openCluster(configuration(effects.url));
    url = new URL(cluster.variables['DATABASE_URL'] ?? '');
    line = await TcpProxy.open(
      await freePort(),
      Number(url.port),
      watchPostgres((what) => seen(what)),
    );
    [url.hostname, url.port] = ['127.0.0.1', String(line.port)];
    reader = await KafkaReader.open(cluster);
    await Promise.all([cluster.start('filter'), start()]);
  }, 2 * startTimeout);
  afterAll(async () => {
    await reader?.close();
    await cluster?.close();
    await line?.close();
    await effects?.close();
  }, 60_000);

  it.each([
    // It takes the request, keeps what it decides by, and connects to the tool.
    ['claim of a request request', made],
    ['claim of a request response', made],
    ['decision of a call request', made],
    ['decision of a call response', made],
    // It acts.
    ['claim of an effect request', made],
    ['claim of an effect response', unknown(0)],
    ['effect begins', unknown(0)],
    ['effect done', unknown(1)],
    ['outcome request', unknown(1)],
    ['outcome response', made],
    // It ends the run. What comes behind that, its transaction, is for the fault suite to hit.
    ['claim of an end request', made],
    ['claim of an end response', made],
  ])(
    'at %s: one end, one step, %j',
    async (moment, outcome) => {
      const id = moment.replaceAll(' ', '-');
      let isKilled = false;
      seen = (what) => {
        if (what !== moment || isKilled) return false;
        return (isKilled = executor.process.kill('SIGKILL'));
      };
      const call = { tool: 'mcp__effects__act', arguments: JSON.stringify({ run: id, turn: 0 }) };
      const request = { question: 'Go', request_id: id, session_id: id, call };
      await reader.publishJson([request]);
      await executor.ended;
      expect(isKilled).toBe(true);
      await start();
      await reader.until(() => reader.ended.has(id) && reader.steps.has(id), 120_000);
      const [step, ...more] = reader.steps.get(id) ?? [];
      expect([step?.reason ?? step?.outcome, effects.done.get(`${id}/0`) ?? 0]).toEqual(outcome);
      expect([more, reader.responses.filter((one) => one.request_id === id).map(({ kind }) => kind)]).toEqual([
        [],
        ['answer'],
      ]);
    },
    240_000,
  );
});
