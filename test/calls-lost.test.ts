import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Fault } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { ApiKeys } from '@sluice/identity';
import { requestOwner } from '@sluice/run';
import { defineTool } from '@sluice/tools';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { startByHand } from './harness/by-hand.js';
import type { ByHand } from './harness/by-hand.js';
import { ScriptedModel } from './harness/system.js';

let done = 0;
const tool = (type: string, effect: 'read_only' | 'external_side_effect') =>
  defineTool({
    ...{ type, description: 'Does something', effect, redaction: { whole: true }, capabilities: [] },
    ...{ input: z.strictObject({}), output: z.string(), repeatable: false, requiresConnection: false },
    execute: () => Promise.resolve(`${type} ${++done}`),
  });
const contracts = [tool('look', 'read_only'), tool('act', 'external_side_effect')];
const noModel = new ScriptedModel(() => {
  throw new Error('No model is asked for a call.');
});

let system: ByHand;
afterEach(() => system.close());

async function begin(more: object = {}): Promise<void> {
  done = 0;
  const tools = { look: { type: 'look', group: ['some'] }, act: { type: 'act', group: ['some'] } };
  const configuration = { tool: tools, policy: { allowed_tools: ['look', 'act'] }, ...more };
  system = await startByHand(configuration, { contracts, model: noModel });
}

const call = (
  requestId: string,
  name: string,
  headers: Record<string, string> = {},
  topic: 'agent.calls' | 'agent.requests' = topics.calls,
) => {
  const record = {
    ...newRequest('Go', { requestId, sessionId: requestId }),
    group: ['some'],
    call: make.directCall({ tool: name, arguments: '{}' }),
  };
  return system.bus.publish([{ topic, key: requestId, record, headers }]);
};

/** As an executor leaves the log that is killed when the call is made, before its outputs are on it. */
async function lose(lost: readonly Topic[], credential?: string): Promise<void> {
  await system.stop('executor');
  const database = new DatabaseSync(join(system.folder, 'log.sqlite'));
  for (const topic of lost)
    database.prepare('DELETE FROM records WHERE topic = (SELECT id FROM topics WHERE name = ?)').run(topic);
  // Its credential goes with the outputs.
  if (credential !== undefined) {
    const headers = JSON.stringify({ authorization: credential });
    const place = '(SELECT id FROM topics WHERE name = ?)';
    database.prepare(`UPDATE records SET headers = ? WHERE topic = ${place}`).run(headers, topics.calls);
  }
  database.prepare("UPDATE positions SET prefix = 0 WHERE consumer_group = 'executor'").run();
  database.prepare("DELETE FROM finished WHERE consumer_group = 'executor'").run();
  database.close();
}

const outcome = async (requestId: string) => {
  const { answer, error } = await system.responseOf(requestId);
  const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
  return [error?.code ?? answer, steps.map(({ action, reason }) => [action, reason])];
};

describe('a call whose executor was lost before its end was on the log', () => {
  it.each(['look', 'act'])('does not count against itself where rules count %s', async (name) => {
    await begin({ rules: { few: { groups: ['some'], history: { within: 'user', in_last: '1h', at_most: 1 } } } });
    await system.start('filter');
    await system.start('executor');
    await call('counted', `core__${name}`);
    expect(await outcome('counted')).toEqual([`${name} 1`, [[name, null]]]);
    await lose([topics.steps, topics.responses]);
    await system.start('executor');
    expect(await outcome('counted')).toEqual([name === 'look' ? 'look 2' : 'act 1', [[name, null]]]);
  });

  it('ends as its caller’s with what it did, also where the credential counts no longer', async () => {
    await begin({ identity: { provider: 'api-keys' } });
    const keys = new ApiKeys(system.open.runtime.documents);
    const scope = { name: 'ann', tenant: 'acme', groups: ['some'], connections: [], expiresAt: Date.now() + 3_600_000 };
    const { key, token } = await keys.create(scope, Date.now());
    const authorization = `Bearer ${token}`;
    await system.start('filter');
    await system.start('executor');
    await call('revoked', 'core__act', { authorization });
    expect(await outcome('revoked')).toEqual(['act 1', [['act', null]]]);
    await lose([topics.steps, topics.responses], authorization);
    await keys.revoke(key.id, Date.now());
    await system.start('executor');
    expect(await outcome('revoked')).toEqual(['act 1', [['act', null]]]);
    expect((await system.responseOf('revoked')).run?.principal?.tenantId).toBe('acme');
    expect(done).toBe(1);
  });

  it('is refused as its tenant’s where it only read, and its credential was revoked meanwhile', async () => {
    await begin({ identity: { provider: 'api-keys' } });
    const keys = new ApiKeys(system.open.runtime.documents);
    const scope = { name: 'ann', tenant: 'acme', groups: ['some'], connections: [], expiresAt: Date.now() + 3_600_000 };
    const { key, token } = await keys.create(scope, Date.now());
    const authorization = `Bearer ${token}`;
    await system.start('filter');
    await system.start('executor');
    await call('read', 'core__look', { authorization });
    expect(await outcome('read')).toEqual(['look 1', [['look', null]]]);
    await lose([topics.steps, topics.responses], authorization);
    await keys.revoke(key.id, Date.now());
    // No attempt has taken this one: a revoked key takes no id of its tenant.
    await call('fresh', 'core__look', { authorization });
    await system.start('executor');
    const denied = async (requestId: string) => {
      const { error, tenantId, run } = await system.responseOf(requestId);
      return [error?.code, tenantId, run];
    };
    expect(await denied('read')).toEqual(['authz_denied', 'acme', null]);
    expect(await denied('fresh')).toEqual(['authz_denied', null, null]);
    expect(done).toBe(1);
    const owner = (tenant: string | null) => requestOwner({ requestId: 'fresh', tenant }, system.open.runtime);
    expect([await owner('acme'), await owner(null)]).toEqual([null, expect.stringContaining('agent.calls/')]);
  });
});

describe('the request of a call', () => {
  it('that comes again is skipped also where the ledger was away at first', async () => {
    await begin();
    await system.start('filter');
    await system.start('executor');
    await call('again', 'core__look');
    await system.responseOf('again');
    await lose([]);
    const { ledger } = system.open.runtime;
    const claim = ledger.claim.bind(ledger);
    let failures = 0;
    ledger.claim = (asked) => {
      if (asked.key.startsWith('request/') && failures++ === 0)
        return Promise.reject(new Fault('ledger_unreachable', 'It is away.', true));
      return claim(asked);
    };
    await system.start('executor');
    await system.caughtUp('executor', topics.calls);
    expect(failures).toBe(2);
    expect([(await system.all('agent.steps')).length, (await system.all('agent.responses')).length, done]).toEqual([
      1, 1, 1,
    ]);
  });

  it('whose credential has expired since is not passed on with it, and is made', async () => {
    await begin({ identity: { provider: 'api-keys' } });
    const keys = new ApiKeys(system.open.runtime.documents);
    const scope = { name: 'ann', tenant: 'acme', groups: ['some'], connections: [], expiresAt: Date.now() + 1_000 };
    const { token } = await keys.create(scope, Date.now());
    await call('late', 'core__act', { authorization: `Bearer ${token}` }, topics.requests);
    await sleep(1_500);
    for (const role of ['filter', 'agent', 'executor'] as const) await system.start(role);
    expect(await outcome('late')).toEqual(['act 1', [['act', null]]]);
  });
});
