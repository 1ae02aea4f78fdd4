import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentResponse } from '@sluice/contracts';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { short } from '../harness/approving.js';
import { startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { research, scripted, withAgents } from '../harness/with-agents.js';

describe('on whose behalf an agent works (K-63)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-agents-'));
  let system: TestSystem;
  let ask: (id: string, groups: readonly string[]) => Promise<AgentResponse>;

  beforeAll(async () => {
    const users = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
    const model = scripted({ Go: [{ calls: [research] }] });
    system = await startSystem(withAgents('{ group: [text, write] }', { limits }), model);
    ask = async (id, groups) => {
      const token = await users.token({ sub: id, tool_groups: groups });
      const json = { question: 'Go', request_id: id, session_id: id, group: ['agents'], connections: ['*'] };
      const headers = { authorization: `Bearer ${token}` };
      await system.bus.appendRaw('agent.requests', id, Buffer.from(JSON.stringify(json)), headers);
      return system.responseOf(id);
    };
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true });
  });

  it('is its caller’s, with groups that he may ask for though he did not, and his request’s connections', async () => {
    const response = await ask('alice', ['agents', 'text', 'write', 'more']);
    expect(short(response.history)).toEqual([['research', 'ok', null, 'undefined']]);
    const begun = (await system.all('agent.steps')).find(({ record }) => record.run.parent?.requestId === 'alice');
    expect(begun?.record.run.principal).toEqual(response.run?.principal);
    expect(begun?.record.next).toMatchObject({ group: ['text', 'write'], connections: ['*'], userId: null });
  });

  it('is not permitted where the caller may not ask for one of its groups: refused as a whole, and nothing begins', async () => {
    const response = await ask('bob', ['agents', 'text']);
    expect(short(response.history)).toEqual([['research', 'authz_denied', 'agent_groups', 'undefined']]);
    const begun = (await system.all('agent.steps')).filter(({ record }) => record.run.parent?.requestId === 'bob');
    expect(begun).toEqual([]);
  });
});
