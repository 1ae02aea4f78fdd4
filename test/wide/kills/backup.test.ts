import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { createLog, openRuntime, readEnvironment } from '@sluice/host';
import * as backup from '../../../apps/sluice/src/commands/backup.js';
import * as restore from '../../../apps/sluice/src/commands/restore.js';
import { newRequest } from '../../../apps/sluice/src/run-request.js';
import { eventually } from '../../harness/eventually.js';
import { inProcess } from '../../harness/in-process.js';
import { sluice } from '../../harness/program.js';

it('a backup whose process is killed has not its name, and the next one is whole', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'));
  const at = (name: string): string => join(folder, name);
  const environmentIn = (data: string) => readEnvironment({ SLUICE_DATA: data, SLUICE_PORT: '0' });
  try {
    const { runtime, ...open } = await openRuntime(environmentIn(at('data')), createLog('silent'));
    const record = newRequest('q', { requestId: 'r', sessionId: 's' });
    await runtime.bus.publish([{ topic: topics.requests, key: 's', record }]);
    await open.close();
    mkdirSync(at('data/workspaces'));
    // Large enough that the copy takes a while.
    writeFileSync(at('data/workspaces/large'), '');
    truncateSync(at('data/workspaces/large'), 400_000_000);
    const program = sluice(['backup', at('b')], { SLUICE_DATA: at('data') });
    const part = await eventually(
      () => Promise.resolve(readdirSync(folder).find((name) => name.endsWith('.part'))),
      (name) => name !== undefined,
    );
    program.process.kill('SIGKILL');
    await program.ended;
    expect(readdirSync(folder).sort()).toEqual(['data', part].sort());
    rmSync(at('data/workspaces'), { recursive: true });
    expect((await inProcess(backup.run, environmentIn(at('data')), at('b'))).code).toBe(0);
    cpSync(at('b'), at('moved'), { recursive: true });
    expect((await inProcess(restore.run, environmentIn(at('r')), at('moved'))).code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
