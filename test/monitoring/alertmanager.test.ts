import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startTimeout } from '../infra/client.ts';
import { findAlertmanager } from '../infra/local/prometheus-binaries.ts';
import { root } from './promql.js';

const shipped = join(root, 'ops/alertmanager/alertmanager.yml');

/** The server itself is not started: Debian's build of it needs templates in a folder that only root can write. */
describe('the Alertmanager of the stack', () => {
  let amtool: string;
  const run = async (...args: string[]): Promise<string> => (await promisify(execFile)(amtool, args)).stdout;

  beforeAll(async () => {
    ({ amtool } = await findAlertmanager(console.error, AbortSignal.timeout(startTimeout)));
  }, startTimeout);

  it('has a configuration that its own tool accepts', async () => {
    expect(await run('check-config', shipped)).toContain('SUCCESS');
  });

  it.each(['page', 'ticket'])('sends what is a %s to the receiver of that name', async (severity) => {
    const labels = [`severity=${severity}`, 'alertname=SluiceRoleAbsent'];
    expect((await run('config', 'routes', 'test', `--config.file=${shipped}`, ...labels)).trim()).toBe(severity);
  });
});
