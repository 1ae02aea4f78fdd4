import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import type { SqliteBus } from '@sluice/bus';
import { createLog, dataFiles, openRuntime, readEnvironment } from '@sluice/host';
import * as deadLetters from '../apps/sluice/src/commands/dead-letters.js';
import * as ledger from '../apps/sluice/src/commands/ledger.js';
import { inProcess } from './harness/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-command-'));
const environment = readEnvironment({ SLUICE_DATA: folder, SLUICE_PORT: '0' });
afterAll(() => rmSync(folder, { recursive: true }));

it('`sluice ledger` says whether the ledger belongs to the log, and adopts another one; commands on an emptied one are refused', async () => {
  const open = await openRuntime(environment, createLog('silent'));
  await (open.runtime.bus as SqliteBus).appendRaw('agent.responses', 's', Buffer.from('what a service writes'));
  await open.close();
  const check = () => inProcess(ledger.run, environment, 'check');
  expect(await check()).toEqual({ code: 0, output: 'The ledger belongs to the log.\n' });

  rmSync(dataFiles(environment).ledger);
  const refused = { code: 'ledger_unreachable', message: expect.stringContaining('run “sluice ledger adopt”') };
  await expect(check()).rejects.toMatchObject(refused);
  await expect(inProcess(deadLetters.run, environment, 'list')).rejects.toMatchObject(refused);
  await expect(openRuntime(environment, createLog('silent'))).rejects.toMatchObject(refused);

  expect(await inProcess(ledger.run, environment, 'adopt')).toMatchObject({ code: 0 });
  expect(await check()).toMatchObject({ code: 0 });
  await (await openRuntime(environment, createLog('silent'))).close();

  await expect(inProcess(ledger.run, environment, 'spread')).rejects.toThrow(/The ledger is a file/);
  await expect(inProcess(ledger.run, environment, 'adapt')).rejects.toThrow(/There is no "adapt"/);
  await expect(inProcess(ledger.run, environment, 'adopt', 'it')).rejects.toThrow(/more than the command takes/);
});
