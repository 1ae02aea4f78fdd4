import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive } from '@sluice/archive';
import { verifyAttestation } from '@sluice/audit';
import type { Bus } from '@sluice/bus';
import type { JsonValue } from '@sluice/core';
import { verifierForLooking } from '@sluice/host';
import { WholeLog } from '../../apps/gateway/src/audit/whole-log.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { caughtUp } from '../audit/auditing.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, post, streamed } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-proof-'));
const keyFile = join(folder, 'issuer.json');
const settings = `provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}`;
const identity = `identity: { ${settings}, operators: [{ principals: ['user:olga'], tenants: [acme] }] }`;

type Json = Readonly<Record<string, unknown>>;
interface Verification {
  readonly ok: boolean;
  readonly found: number;
  readonly chains: readonly Json[];
  readonly findings: readonly Json[];
}

describe('proofs of the log over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Readonly<Record<string, string>>;
  let olga: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const as = async (sub: string) => ({
      authorization: `Bearer ${await users.token({ sub, tenant: 'acme', tool_groups: ['*'] })}`,
    });
    [ann, olga] = await Promise.all([as('ann'), as('olga')]);
    const model = new ScriptedModel(inOrder({ calls: [calls.query] }, { answer: 'Found.' }));
    system = await startSystem(workflowConfiguration({ limits: identity }), model);
    gateway = await startGateway(system.embedded.runtime);
    const body = { question: 'Look', group: ['*'], request_id: 'r1', session_id: 's1' };
    await post(`${gateway.url}/v1/runs`, body, { ...ann, prefer: 'wait=30' });
    await caughtUp(system.bus, system.embedded.runtime.signatures);
    await gateway.close();
    // The audit signs its chains when it stops.
    system = await system.restart();
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const verify = (headers: Readonly<Record<string, string>>, signal?: AbortSignal) =>
    fetch(`${gateway.url}/v1/audit/verify`, { method: 'POST', headers, ...(signal === undefined ? {} : { signal }) });
  const get = (path: string, headers = olga) => fetch(`${gateway.url}/v1/audit/${path}`, { headers });

  it('are for operators', async () => {
    const asked = [verify(ann), get('export', ann), get('attestation', ann), verify({}), get('export', {})];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403, 403, 401, 401]);
  });

  it('attest the calls of a session, which others verify without the log', async () => {
    const response = await get('attestation?session_id=s1');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const report = (await response.json()) as JsonValue;
    const { problems, calls: count } = await verifyAttestation(
      report,
      verifierForLooking(system.embedded.runtime.environment),
    );
    expect([problems, count]).toEqual([[], 1]);
    expect(report).toMatchObject({ session: 's1', from: null, to: null, signer: 'software', quote: null });
    expect((await get('attestation?session=s1')).status).toBe(400);

    const { runtime } = system.embedded;
    const signatures = { ...runtime.signatures, canSign: () => false };
    const without = await startGateway({ ...runtime, signatures });
    try {
      const refused = await fetch(`${without.url}/v1/audit/attestation`, { headers: olga });
      expect([refused.status, ((await refused.json()) as Json)['detail']]).toEqual([
        409,
        expect.stringContaining('sluice attest'),
      ]);
    } finally {
      await without.close();
    }
  });

  it('export the records of a span, as the command line reads them', async () => {
    const response = await get('export?tenant=acme');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zstd']);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="sluice-[\dT-]+\.sluice"$/);
    const file = join(folder, 'log.sluice');
    writeFileSync(file, Buffer.from(await response.arrayBuffer()));
    const archive = await openArchive(file);
    expect(archive.header.selection).toEqual({ from: null, to: null, session: null, tenant: 'acme', topics: null });
    expect(archive.trailer.records).toMatchObject({ 'agent.requests': 1, 'agent.responses': 1 });
    for await (const { headers } of archive.read(['agent.requests'], { from: 'start' }))
      expect(headers).not.toHaveProperty('authorization');
    expect((await get('export?since=yesterday')).status).toBe(400);
  });

  it('verify the audit, and say how far that is', async () => {
    const whole = (await (await verify(olga)).json()) as Verification;
    expect(whole).toMatchObject({ ok: true, found: 0, findings: [] });
    expect(whole.chains.map(({ chain }) => chain)).toContain('agent.steps/0');

    await system.bus.appendRaw('agent.audit', 'agent.steps/0', Buffer.from('{'));
    const response = await verify({ ...olga, ...streamed });
    const events = (await chunksOf(response)).flatMap((chunk) => (chunk.type === 'data' ? chunk.data : [])) as Json[];
    expect(events.map(({ type }) => type)).toEqual(['progress', 'finding', 'end']);
    expect(events[0]).toMatchObject({ records: expect.any(Number), entries: expect.any(Number) });
    expect(events[1]).toMatchObject({
      ...{ kind: 'undecodable', place: { partition: 0, offset: expect.any(Number) } },
      message: expect.stringMatching(/^The record cannot be read any more\. \w/),
    });
    expect(events[2]).toMatchObject({ ok: false, found: 1 });
    expect(events[2]).not.toHaveProperty('findings');
    const body = await fetch(`${gateway.url}/v1/audit/verify`, {
      ...{ method: 'POST', headers: { ...olga, 'content-type': 'application/json' }, body: '{"x":1}' },
    });
    expect(body.status).toBe(400);
  });
});

describe('a reading of the whole log', () => {
  /** A log that never ends, and reads on at once. */
  const endless = {
    async *read() {
      for (let offset = 0; ; offset++) {
        yield { topic: 'agent.audit', offset, timestamp: offset };
        await Promise.resolve();
      }
    },
  } as unknown as Bus;
  const wholeLog = () => new WholeLog({ bus: endless, log: { error: () => undefined } as never });
  const readAll = async ({ log }: { readonly log: Pick<Bus, 'read'> }): Promise<string> => {
    let last = 0;
    for await (const { offset } of log.read(['agent.audit'], { from: 'start' })) last = offset;
    return `read up to ${last}`;
  };

  it('lets others go on beside it, and ends with its reader, without a result', async () => {
    const leaving = new AbortController();
    const reading = wholeLog().during(leaving.signal, readAll);
    await delay(20);
    leaving.abort(new Error('left'));
    await expect(reading).rejects.toThrow('left');
  });

  it('is one of two at a time, and ends when the gateway is stopped', async () => {
    const whole = wholeLog();
    const two = [1, 2].map(() => whole.during(new AbortController().signal, readAll));
    await expect(whole.during(new AbortController().signal, readAll)).rejects.toThrow(/2 times already/);
    whole.onModuleDestroy();
    for (const one of two) await expect(one).rejects.toThrow(/being stopped/);
  });
});
