import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeys } from '@sluice/identity';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { newClient, startMcpSystem } from '../mcp/with-mcp.js';
import type { McpSystem } from '../mcp/with-mcp.js';

/** Who may ask for what: users by a file, services by API keys. One name is in both tenants. */
const callers = [
  { name: 'ann of acme', tenant: 'acme', user: 'ann', groups: ['read-only'] },
  { name: 'ann of globex', tenant: 'globex', user: 'ann', groups: ['write'] },
  { name: 'bob of acme', tenant: 'acme', user: 'bob', groups: ['*'] },
  { name: 'eve of globex, without a record', tenant: 'globex', user: 'eve', groups: [] },
  { name: 'a service of acme', tenant: 'acme', user: null, groups: ['write'] },
] as const;
const asked = [['read-only'], ['write'], ['read-only', 'write'], ['*'], []] as const;
/** The keys of the tools, as the policy allows them, by group. */
const names = new Map<string, string>();

const folder = mkdtempSync(join(tmpdir(), 'sluice-matrix-'));
const keyFile = join(folder, 'issuer.json');
const usersFile = join(folder, 'users.yaml');

describe('every caller on every route with every group (G-06, G-87, G-89, XG-12)', () => {
  let system: McpSystem;
  let gateway: Gateway;
  let count = 0;

  beforeAll(async () => {
    const honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    const users: Record<string, Record<string, readonly string[]>> = {};
    for (const { tenant, user, groups } of callers)
      if (user !== null && groups.length > 0) (users[tenant] ??= {})[`user:${user}`] = groups;
    writeFileSync(usersFile, JSON.stringify(users));
    const settings = `provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}`;
    const identity = `identity: { ${settings}, permissions: { users: { file: "${usersFile}" } } }`;
    system = await startMcpSystem(workflowConfiguration({ limits: identity }));
    gateway = await startGateway(system.embedded.runtime);
    const apiKeys = new ApiKeys(system.embedded.runtime.documents);
    for (const { name, tenant, user, groups } of callers) {
      // What the credential itself says of groups counts for nothing: the file decides.
      const scope = { name: 'service', tenant, groups, connections: [], expiresAt: Date.now() + 3_600_000 };
      const token =
        user === null
          ? (await apiKeys.create(scope, Date.now())).token
          : await honest.token({ sub: user, tenant, tool_groups: ['*'] });
      names.set(name, token);
    }
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const isPermitted = (groups: readonly string[], wanted: readonly string[]): boolean =>
    groups.includes('*') || wanted.every((group) => groups.includes(group));
  const bearer = (name: string) => ({ authorization: `Bearer ${names.get(name) ?? ''}` });
  const others = (tenant: string) => callers.filter((one) => one.tenant !== tenant);

  describe.each(callers.map((one) => [one.name, one] as const))('%s', (name, { tenant, user, groups }) => {
    it.each(asked.map((wanted) => [wanted.join(' and ') || 'no group', wanted] as const))(
      'asks for %s',
      async (_, wanted) => {
        const may = isPermitted(groups, wanted);
        const query = wanted.length === 0 ? '?group=' : `?group=${wanted.join(',')}`;
        const listed = await fetch(`${gateway.url}/v1/tools${query}`, { headers: bearer(name) });
        expect(listed.status).toBe(may ? 200 : 403);
        const tried = await fetch(`${gateway.url}/v1/toolsets`, {
          method: 'POST',
          headers: { ...bearer(name), 'content-type': 'application/json' },
          body: JSON.stringify({ question: 'Q', group: wanted }),
        });
        expect(tried.status).toBe(may ? 200 : 403);

        // Over HTTP: refused before anything is published, else a run of this tenant that no other tenant sees.
        const id = `run-${count++}`;
        const body = JSON.stringify({ question: 'Q', group: wanted, request_id: id, session_id: 'one-session' });
        const headers = { ...bearer(name), 'content-type': 'application/json', prefer: 'wait=20' };
        const run = await fetch(`${gateway.url}/v1/runs`, { method: 'POST', headers, body });
        expect(run.status).toBe(may ? 200 : 403);
        const answer = await run.text();
        if (!may) expect(answer).toContain('insufficient_permissions');
        for (const other of others(tenant)) {
          const path = `${gateway.url}/v1/runs/${id}?session_id=one-session&since=0`;
          const seen = await fetch(path, { headers: { ...bearer(other.name), prefer: 'wait=1' } });
          expect(seen.status).toBe(404);
          expect(await seen.text()).not.toContain(tenant);
        }

        // On the log, where the filter alone decides, by the same rule; the record has what was granted.
        const requestId = `log-${count++}`;
        const record = { question: 'Q', group: wanted, request_id: requestId, session_id: 'one-session' };
        await system.bus.appendRaw('agent.requests', 'one-session', Buffer.from(JSON.stringify(record)), bearer(name));
        const end = await system.responseOf(requestId);
        expect(end.error?.code).toBe(may ? undefined : 'authz_denied');
        const actorId = user === null ? 'service:service' : `user:${user}`;
        expect(end.run?.principal).toEqual({ actorId, tenantId: tenant, subjectId: null, groups, connections: [] });
      },
    );

    it('is listed by MCP the tools of its groups, as over HTTP, and no others', async () => {
      const client = await newClient(system.mcp.url, names.get(name));
      try {
        const { tools } = await client.listTools();
        const query = groups.length === 0 ? '?group=' : `?group=${groups.join(',')}`;
        const response = await fetch(`${gateway.url}/v1/tools${query}`, { headers: bearer(name) });
        const { tools: expected } = (await response.json()) as {
          readonly tools: readonly { readonly description: string }[];
        };
        const texts = (list: readonly { readonly description?: string | undefined }[]) =>
          list.map(({ description }) => description).sort();
        expect(texts(tools)).toEqual(texts(expected));
      } finally {
        await client.close();
      }
    });
  });

  it('labels no metric with what one tenant could learn of another’s requests', async () => {
    const { metrics } = system.embedded.runtime;
    const text = await metrics.registry.metrics();
    const labelled = text.split('\n').filter((line) => /tenant="(?!")/.test(line));
    // Refused callers by name, for operators; nothing else names a tenant, and no line has a request, session or question.
    expect([...new Set(labelled.map((line) => line.split('{')[0]))]).toEqual(['sluice_requests_refused_total']);
    expect(
      text
        .split('\n')
        .filter(
          (line) =>
            /"(?:run|log)-\d+"|"one-session"|globex|service:service"/.test(line) &&
            !line.startsWith('sluice_requests_refused_total'),
        ),
    ).toEqual([]);
  });
});
