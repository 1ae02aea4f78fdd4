import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCluster } from '../cluster/cluster.js';
import type { Cluster } from '../cluster/cluster.js';
import { projectRoot } from '../harness/configurations.js';
import { sluice } from '../harness/program.js';
import { startTimeout } from '../infra/client.ts';

const example = (file: string): string => readFileSync(join(projectRoot, 'examples/load', file), 'utf8');

describe('sluice load on Kafka', () => {
  let folder: string;
  let cluster: Cluster;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-load-'));
    cluster = await openCluster(example('sluice.yaml'));
    await Promise.all([cluster.start('filter'), cluster.start('agent'), cluster.start('executor')]);
  }, startTimeout);
  afterAll(async () => {
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const load = (...args: string[]) =>
    sluice(['load', '--rate', '20', '--for', '4s', '--json', ...args], cluster.variables).ended;

  it('is an upstream like any other: every request ends as its kind should', async () => {
    const { code, output, errors } = await load();
    expect([errors, code]).toEqual(['', 0]);
    expect(JSON.parse(output)).toMatchObject({ sent: 80, ended: 80, unanswered: 0, unexpected: 0 });
  });

  it('says so, with exit code 1, where runs end otherwise than the mix expects', async () => {
    const mix = join(folder, 'mix.yaml');
    writeFileSync(mix, example('mix.yaml').replaceAll('expect: [authz_denied]', 'expect: [answer]'));
    const { code, output } = await load('--mix', mix);
    const result = JSON.parse(output) as { unexpected: number; outcomes: { authz_denied: { runs: number } } };
    expect(result.unexpected).toBe(result.outcomes.authz_denied.runs);
    expect([code, result.unexpected > 0]).toEqual([1, true]);
  });
});
