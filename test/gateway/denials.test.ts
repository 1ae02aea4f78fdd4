import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { Bus } from '@sluice/bus';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { caughtUp, entries } from '../audit/auditing.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { command } from '../harness/command.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-denials-'));
const keyFile = join(folder, 'issuer.json');

describe('what the gateway denies', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let bob: Readonly<Record<string, string>>;
  let token: string;
  beforeAll(async () => {
    const honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    token = await honest.token({ sub: 'bob', tenant: 'acme', tool_groups: ['read-only'] });
    bob = { authorization: `Bearer ${token}` };
    const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
    system = await startSystem(workflowConfiguration({ limits }), new ScriptedModel(() => ({ answer: 'done' })));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (body: object) => post(`${gateway.url}/v1/runs`, { question: 'Q', ...body }, bob);
  const denied = async () => (await entries(system.bus)).filter(({ kind }) => kind === 'access_denied');

  it('is in the audit once, with who asked for what and why it was refused, and is no run (G-98, G-147)', async () => {
    const ids = { request_id: 'wanted-more', session_id: 'session-of-bob' };
    expect((await ask({ ...ids, group: ['read-only', 'write'], state: 'analysis' })).status).toBe(403);
    const listing = await fetch(`${gateway.url}/v1/tools?group=admin,*`, { headers: bob });
    expect(listing.status).toBe(403);
    expect((await ask({ ...ids, group: [], user_id: 'root' })).status).toBe(403);

    const report = await caughtUp(system.bus, system.embedded.runtime.signatures);
    expect(report.findings).toEqual([]);
    const found = await denied();
    const about = { actor: 'user:bob', tenant: 'acme', permitted_groups: ['read-only'], granted_groups: [] };
    expect(found).toMatchObject([
      {
        sessionId: 'session-of-bob',
        requestId: '',
        configVersion: system.embedded.runtime.configurations.current().configuration.version,
        details: {
          ...about,
          route: 'POST /v1/runs',
          named_request_id: 'wanted-more',
          requested_groups: ['read-only', 'write'],
          refused_groups: ['write'],
          state: 'analysis',
          code: 'insufficient_permissions',
          message: 'Insufficient permissions for requested tool groups',
          escalation: false,
        },
      },
      {
        sessionId: '',
        details: {
          ...about,
          route: 'GET /v1/tools',
          named_request_id: '',
          requested_groups: ['admin', '*'],
          refused_groups: ['admin', '*'],
          state: 'undefined',
          code: 'insufficient_permissions',
          escalation: true,
        },
      },
      { details: { ...about, refused_groups: [], code: 'authz_denied', escalation: true } },
    ]);
    expect(await system.metric('agent_group_access_denied_total')).toBe(3);
    for (const topic of ['agent.requests', 'agent.responses'] as const) expect(await system.all(topic)).toEqual([]);
    expect(JSON.stringify([await system.all('agent.denials'), found])).not.toContain(token);

    // The id is still free.
    const run = await post(
      `${gateway.url}/v1/runs`,
      { question: 'Q', ...ids, group: [] },
      { ...bob, prefer: 'wait=20' },
    );
    expect(run.status).toBe(200);
  });

  it('is listed by `sluice audit denials`, and with its session by `sluice audit show`', async () => {
    await system.bus.appendRaw(
      'agent.requests',
      'direct',
      Buffer.from(JSON.stringify({ question: 'Q', group: ['write'], request_id: 'direct', session_id: 'direct' })),
      bob,
    );
    await system.responseOf('direct');
    await caughtUp(system.bus, system.embedded.runtime.signatures);
    const sluice = (...args: string[]) => command(args, { SLUICE_DATA: system.folder });
    const { output } = await sluice('audit', 'denials');
    expect(output.match(/was denied|was refused/g)).toHaveLength(4);
    expect(output).toContain('user:bob of acme was denied POST /v1/runs as wanted-more');
    expect(output).toContain('user:bob of acme was denied GET /v1/tools: Insufficient permissions');
    const json = await sluice('audit', 'denials', '--json', '--tenant', 'acme', '--user', 'bob');
    expect(json.output.trim().split('\n')).toHaveLength(4);
    expect((await sluice('audit', 'denials', '--tenant', 'globex')).output).toContain('The audit has no denial.');
    const shown = await sluice('audit', 'show', 'session-of-bob');
    expect(shown.output).toContain('was denied POST /v1/runs as wanted-more');
    expect((await sluice('tail', '--topic', 'agent.denials', '--from', 'start', '--once')).output).toContain(
      'user:bob of acme was refused POST /v1/runs: insufficient_permissions, groups write',
    );
  });

  it('holds a bounded record, however much was asked for', async () => {
    const group = Array.from({ length: 500 }, (_, n) => `${'g'.repeat(400)}-${n}`);
    expect((await ask({ group, request_id: 'large' })).status).toBe(403);
    const last = (await system.all('agent.denials')).find(({ record }) => record.requestId === 'large');
    expect(last?.record.refusedGroups).toHaveLength(100);
    expect(last?.record.refusedGroups[0]).toBe(`${'g'.repeat(200)}…`);
  });

  describe('where the log cannot be written', () => {
    let bus: Bus;
    let publish: Bus['publish'];
    beforeAll(() => {
      bus = system.embedded.runtime.bus;
      publish = bus.publish.bind(bus);
    });
    afterEach(() => void (bus.publish = publish));

    it('stays denied, is counted, and is not tried again at once', async () => {
      let tries = 0;
      bus.publish = () => {
        tries++;
        return Promise.reject(new Fault('storage', 'Kafka at broker-1 refuses connections.', true));
      };
      const responses = [await ask({ group: ['write'] }), await ask({ group: ['write'] })];
      expect(responses.map(({ status }) => status)).toEqual([403, 403]);
      expect(await responses[0]?.text()).not.toContain('broker-1');
      expect(tries).toBe(1);
      expect(await system.metric('sluice_denials_unaudited_total')).toBe(2);
      const lines = (await system.lines()).filter(({ msg }) => String(msg).includes('so the audit lacks it'));
      expect(lines).toMatchObject([
        {
          actor: 'user:bob',
          tenant: 'acme',
          code: 'insufficient_permissions',
          reason: expect.stringContaining('broker-1'),
        },
        { actor: 'user:bob' },
      ]);
    });
  });

  it('does not wait for a log that hangs', async () => {
    const { bus } = system.embedded.runtime;
    const gatewayAgain = await startGateway(system.embedded.runtime);
    const publish = bus.publish.bind(bus);
    bus.publish = () => new Promise(() => undefined);
    try {
      const since = performance.now();
      const response = await post(`${gatewayAgain.url}/v1/runs`, { question: 'Q', group: ['write'] }, bob);
      expect(response.status).toBe(403);
      expect(performance.now() - since).toBeLessThan(10_000);
    } finally {
      bus.publish = publish;
      await gatewayAgain.close();
    }
  });
});
