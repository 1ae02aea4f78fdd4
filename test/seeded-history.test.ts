import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sourceTopics } from '@sluice/audit';
import { topics } from '@sluice/contracts';
import { readEnvironment, readLocalSecret } from '@sluice/host';
import { startGateway } from '../apps/gateway/src/gateway.module.js';
import { startEmbedded } from '../apps/sluice/src/system/embedded.js';
import { seedModel } from '../bench/history/runs.js';
import { seedHistory } from '../bench/history/seed.js';
import { runs as runsOn } from '../bench/loop.js';
import { command } from './harness/command.js';

const runs = 100;
const day = 24 * 3_600_000;

/** What `npm run bench -- seed` makes is a data folder like any other. */
describe('a seeded history', () => {
  const folder = join(tmpdir(), `sluice-seeded-${process.pid}`);
  const variables = { SLUICE_DATA: folder, SLUICE_PORT: '0', SLUICE_HTTP_PORT: '0', SLUICE_LOG_LEVEL: 'warn' };
  const environment = readEnvironment(variables);

  beforeAll(async () => {
    await seedHistory({ folder, runs, days: 10, waiting: 2 });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is one that audit and replay find nothing in', async () => {
    const verified = await command(['audit', 'verify'], variables);
    expect([verified.code, verified.output]).toEqual([
      0,
      expect.stringMatching(/records compared with their entries; 0 are no longer on the log, 0 have no entry yet\.\n/),
    ]);
    const replayed = await command(['replay', '--json'], variables);
    expect([replayed.code, replayed.output]).toEqual([0, expect.stringContaining('"different":0,"not_replayable":0')]);
  });

  it('has runs of many kinds, over the days', async () => {
    const { output } = await command(['runs', '--json', '--limit', '1000'], variables);
    const listed = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(listed).toHaveLength(runs + 2);
    expect(new Set(listed.map(({ outcome }) => outcome))).toEqual(new Set(['answer', 'max_iterations', 'running']));
    const [first, last] = [listed[0], listed.at(-1)].map((run) => new Date(String(run?.['started_at'])).getTime());
    expect(Number(last) - Number(first)).toBeGreaterThan(7 * day);
  });

  it('is served at once, and goes on where it ended', async () => {
    const open = await startEmbedded({
      environment,
      configFile: null,
      models: { get: () => Promise.resolve(seedModel) },
    });
    try {
      const gateway = await startGateway(open.runtime);
      open.beforeClose(() => gateway.close());
      const headers = { authorization: `Bearer ${readLocalSecret(environment) ?? ''}` };
      const list = async (query: string): Promise<readonly { readonly request_id: string }[]> => {
        const response = await fetch(`${gateway.url}/v1/runs?${query}`, { headers });
        expect(response.status).toBe(200);
        return ((await response.json()) as { runs: readonly { request_id: string }[] }).runs;
      };
      expect(await list('since=0&limit=200')).toHaveLength(runs + 2);
      expect(await list('outcome=running')).toHaveLength(2);
      expect((await list('tool=add&limit=100')).map(({ request_id }) => request_id)).toHaveLength(1);
      const taken = [
        ['filter', [topics.requests, topics.steps]],
        ['agent', [topics.toolsets]],
        ['executor', [topics.toolCalls, topics.approvals]],
        ['audit', sourceTopics],
      ] as const;
      for (const [group, of] of taken)
        for (const { topic, records } of await open.runtime.bus.groupLag(group, of))
          expect([group, topic, records]).toEqual([group, topic, 0]);
      await runsOn(open, 3, 1);
    } finally {
      await open.close();
    }
    const verified = await command(['audit', 'verify'], variables);
    expect(verified.output).toContain('Nothing was changed, dropped, inserted or moved.');
    expect((await command(['runs', '--json', '--limit', '1000'], variables)).output.trim().split('\n')).toHaveLength(
      runs + 5,
    );
  });

  it('is only made in a folder of its own', async () => {
    await expect(seedHistory({ folder, runs: 4, days: 1 })).rejects.toThrow(
      /There is a log in .*Name a folder that is new/,
    );
  });
});
