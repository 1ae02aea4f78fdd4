import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import { tenantHeader } from '@sluice/bus';
import { createLog, openLedger, openLogFile, readEnvironment } from '@sluice/host';
import { callKeyOf, claimedName } from '@sluice/run';
import { markInDoubt } from '../../libs/backup/src/in-doubt.js';

describe('a call that its request makes itself, in a copy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-own-call-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is in doubt while the executor is not done with its request', async () => {
    const environment = readEnvironment({ SLUICE_DATA: folder });
    const log = createLog('fatal');
    const tools = [{ key: 'pay', id: 'core__pay' }];
    const bus = await openLogFile(environment, log);
    const config = make.configVersion({
      version: 'c-1',
      configuration: JSON.stringify({ tools }),
      source: '',
      compiledAt: 1,
    });
    const request = (requestId: string, tool: string) => {
      const call = { tool, arguments: '{"amount":1}', order: null };
      return { ...make.agentRequest({ question: 'Pay' }), requestId, sessionId: 's', call };
    };
    await bus.publish([
      { topic: topics.config, key: 'config', record: config },
      { topic: topics.calls, key: 's', record: request('of-local', 'pay') },
      { topic: topics.calls, key: 's', record: request('of-acme', 'core__pay'), headers: { [tenantHeader]: 'acme' } },
    ]);
    await bus.close();
    const before = await openLedger(environment, log);
    await before.ledger.close();

    const found = await markInDoubt(environment, log, { takenAt: new Date().toISOString() });
    expect(found).toEqual([
      { requestId: 'of-local', tool: 'core__pay' },
      { requestId: 'of-acme', tool: 'core__pay' },
    ]);
    const { ledger } = await openLedger(environment, log);
    const clock = { now: () => Date.now() };
    for (const [requestId, tenant] of [
      ['of-local', 'local'],
      ['of-acme', 'acme'],
    ] as const) {
      const name = await claimedName({ requestId, tenant }, { ledger, clock });
      const call = { toolCallId: 'call-0', tool: 'core__pay', arguments: '{"amount":1}', argumentsBytes: null };
      const claim = await ledger.find(callKeyOf(name, { iteration: 1 }, { ...call, providerData: null }, 0));
      expect([claim?.owner, claim?.value]).toEqual(['restore', null]);
    }
    await ledger.close();
  });
});
