import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeys } from '@sluice/identity';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import type { ScriptedModel } from '../harness/system.js';
import { newClient, startMcpSystem } from '../mcp/with-mcp.js';
import type { McpSystem } from '../mcp/with-mcp.js';

/** Who may ask for what: users by a file, services by API keys. One name is in both tenants. */
const callers = [
  { name: 'ann of acme', tenant: 'acme', user: 'ann', groups: ['read-only'] },
  { name: 'ann of globex', tenant: 'globex', user: 'ann', groups: ['write'] },
  { name: 'bob of acme', tenant: 'acme', user: 'bob', groups: ['*'] },
  { name: 'eve of globex, without a record', tenant: 'globex', user: 'eve', groups: [] },
  { name: 'a service of acme', tenant: 'acme', user: null, groups: ['write'] },
  // Operators are of a tenant: the same name in another one is none.
  { name: 'olga of acme, an operator', tenant: 'acme', user: 'olga', groups: [] },
  { name: 'olga of globex', tenant: 'globex', user: 'olga', groups: [] },
] as const;
const operators = "[{ principals: ['user:olga'], tenants: [acme] }]";
/** What a tool may be called with: by each caller, and besides by one of them. */
const rules = `rules:
  short: { tools: [text-completion], arguments: { prompt: { max_length: 9 } } }
  only-b: { tools: [text-completion], for: { claims: { sub: [bob] } }, arguments: { prompt: { pattern: '^B' } } }`;
const asked = [['read-only'], ['write'], ['read-only', 'write'], ['*'], []] as const;
/** The keys of the tools, as the policy allows them, by group. */
const names = new Map<string, string>();

const saidBy = (content: string) => [{ role: 'user', content }];
/** A question for each door. */
const doorBodies = {
  '/openai/v1/chat/completions': (question: string) => ({ messages: saidBy(question) }),
  '/openai/v1/responses': (question: string) => ({ input: question }),
  '/anthropic/v1/messages': (question: string) => ({ max_tokens: 9, messages: saidBy(question) }),
} as const;
const doors = Object.keys(doorBodies) as (keyof typeof doorBodies)[];

/** A model that is asked to say something calls a tool with it; what a tool asks it is answered at once. */
const speaking: ScriptedModel['script'] = ({ question, history }) => {
  const [, prompt] = /^Say (.*)/.exec(question) ?? [];
  if (prompt === undefined) return { answer: 'No model is asked.' };
  return history.length > 0 ? { answer: 'Said.' } : { calls: [['core__text-completion', JSON.stringify({ prompt })]] };
};

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
    const identity = `identity: { ${settings}, operators: ${operators}, permissions: { users: { file: "${usersFile}" } } }`;
    system = await startMcpSystem(workflowConfiguration({ limits: `${identity}\n${rules}` }), {}, speaking);
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
  const nameOf = ({ user }: (typeof callers)[number]) => (user === null ? 'service:service' : `user:${user}`);
  const bearer = (name: string) => ({ authorization: `Bearer ${names.get(name) ?? ''}` });
  /** Asks by a door, with the credential as its clients send it. */
  const byDoor = (door: (typeof doors)[number], name: string, question: string, groups: readonly string[]) => {
    const isAnthropic = door.startsWith('/anthropic');
    const credential = isAnthropic ? { 'x-api-key': names.get(name) ?? '' } : bearer(name);
    return fetch(`${gateway.url}${door}`, {
      method: 'POST',
      headers: { ...credential, 'content-type': 'application/json', 'x-sluice-groups': groups.join(',') },
      body: JSON.stringify({ model: 'sluice/default', ...doorBodies[door](question) }),
    });
  };
  const others = (tenant: string) => callers.filter((one) => one.tenant !== tenant);

  const operator = 'olga of acme, an operator';

  describe.each(callers.map((one) => [one.name, one] as const))('%s', (name, { tenant, user, groups }) => {
    const isOperator = name === operator;

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

        // By each door: refused in its wire, else a run with these groups.
        for (const door of doors) {
          const through = await byDoor(door, name, 'Q', wanted);
          expect([door, through.status]).toEqual([door, may ? 200 : 403]);
          await through.body?.cancel();
          if (!may) continue;
          const ended = await system.responseOf(through.headers.get('x-sluice-run') ?? '');
          expect(ended.run?.principal?.tenantId).toBe(tenant);
          expect(ended.run?.requestedGroups).toEqual(wanted);
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

    it('calls a tool of its groups within the bounds of arguments, by every door, and no other', async () => {
      const may = isPermitted(groups, ['read-only']);
      const group = may ? ['read-only'] : groups;
      const client = await newClient(system.mcp.url, names.get(name));
      const json = { ...bearer(name), 'content-type': 'application/json', prefer: 'wait=20' };
      const post = (path: string, body: object) =>
        fetch(`${gateway.url}/v1/${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });
      const columns = {
        dry: async (request: object) => {
          const { call } = (await (await post('toolsets', request)).json()) as { readonly call?: object };
          return JSON.stringify(call);
        },
        http: async (request: object) => (await post('runs', request)).text(),
        mcp: async (_: object, prompt: string) =>
          JSON.stringify(
            await client
              .callTool({ name: 'text-completion', arguments: { prompt } })
              .catch((error: unknown) => (error as Error).message),
          ),
        log: async (request: object) => {
          const id = `call-${count++}`;
          const record = { ...request, request_id: id, session_id: id };
          await system.bus.appendRaw('agent.requests', id, Buffer.from(JSON.stringify(record)), bearer(name));
          return JSON.stringify(await system.responseOf(id));
        },
        // There the model makes the call.
        ...Object.fromEntries(
          doors.map((door) => [
            door,
            async (_: object, prompt: string) => {
              const through = await byDoor(door, name, `Say ${prompt}`, group);
              const answer = await through.text();
              const id = through.headers.get('x-sluice-run');
              return id === null ? answer : JSON.stringify((await system.responseOf(id)).history);
            },
          ]),
        ),
      };
      const rulesOf = (prompt: string): readonly string[] => [
        ...(prompt.startsWith('B') || name !== 'bob of acme' ? [] : ['only-b']),
        ...(prompt.length > 9 ? ['short'] : []),
      ];
      try {
        for (const prompt of ['Best', 'Ask', 'Beyond all bounds'])
          for (const [door, call] of Object.entries(columns)) {
            const made = { tool: 'text-completion', arguments: JSON.stringify({ prompt }) };
            const said = await call({ question: 'Q', group, call: made }, prompt);
            const [rule] = rulesOf(prompt);
            const named = ['only-b', 'short'].filter((one) => new RegExp(`by the rule \\\\*"${one}`).test(said));
            // Who may not ask for the tool hears of no rule.
            expect([door, prompt, named]).toEqual([door, prompt, may && rule !== undefined ? [rule] : []]);
            const isMade = /No model is asked|"outcome":"runs"/.test(said);
            expect([door, prompt, isMade]).toEqual([door, prompt, may && rule === undefined]);
          }
      } finally {
        await client.close();
      }
    });

    it('sees the audit of its tenant and of no other, and dead letters as an operator alone', async () => {
      const audit = await fetch(`${gateway.url}/v1/audit?limit=200`, { headers: bearer(name) });
      expect(audit.status).toBe(200);
      const { entries } = (await audit.json()) as { readonly entries: readonly Readonly<Record<string, unknown>>[] };
      const actor = user === null ? 'service:service' : `user:${user}`;
      for (const entry of entries) {
        expect(callers.some((one) => one.tenant === tenant && nameOf(one) === entry['user'])).toBe(true);
        if (entry['user'] !== actor && !isOperator) expect(entry['details']).toBeNull();
      }
      const other = tenant === 'acme' ? 'globex' : 'acme';
      expect(JSON.stringify(entries)).not.toContain(other);

      const proofs = [
        fetch(`${gateway.url}/v1/audit/verify`, { method: 'POST', headers: bearer(name) }),
        fetch(`${gateway.url}/v1/audit/export?session_id=none`, { headers: bearer(name) }),
      ].map(async (answer) => {
        const { status, body } = await answer;
        await body?.cancel();
        return status;
      });
      expect(await Promise.all(proofs)).toEqual(isOperator ? [200, 200] : [403, 403]);
      // No checkpoint is there yet.
      const attestation = await fetch(`${gateway.url}/v1/audit/attestation`, { headers: bearer(name) });
      expect(isOperator ? [200, 409] : [403]).toContain(attestation.status);

      const expected = isOperator ? [200, 404, 404] : [403, 403, 403];
      const paths = ['', '/0-999', '/0-999/redrive'];
      const answers = paths.map((path, index) =>
        fetch(`${gateway.url}/v1/dead-letters${path}`, { method: index === 2 ? 'POST' : 'GET', headers: bearer(name) }),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(expected);
    });

    it('learns who it is, and nothing of others', async () => {
      const me = await fetch(`${gateway.url}/v1/me`, { headers: bearer(name) });
      const isOperator = name === 'olga of acme, an operator';
      expect(await me.json()).toMatchObject({
        ...{ tenant, user: nameOf(callers.find((one) => one.name === name) ?? callers[0]), groups },
        ...{ is_operator: isOperator, is_auditor: isOperator, is_approver: false },
      });
    });

    it('reads, checks and explains configurations as an operator alone', async () => {
      const expected = name === 'olga of acme, an operator' ? 200 : 403;
      const reads = ['', '/current', '/current/diff', '/current/matrix', '/current/findings'].map(async (path) => {
        const { status } = await fetch(`${gateway.url}/v1/configurations${path}`, { headers: bearer(name) });
        return [path, status] as const;
      });
      const text = workflowConfiguration({});
      const bodies = { 'configurations/check': { text }, explain: { group: ['*'] }, 'what-if': { text, until: '1h' } };
      const asks = Object.entries(bodies).map(async ([path, body]) => {
        const json = { ...bearer(name), 'content-type': 'application/json' };
        const sent = { method: 'POST', headers: json, body: JSON.stringify(body) };
        return [path, (await fetch(`${gateway.url}/v1/${path}`, sent)).status] as const;
      });
      const headers = { ...bearer(name), 'content-type': 'application/json' };
      const unread = { method: 'POST', headers, body: JSON.stringify({ text: 'tol: {}' }) };
      const { status: applied } = await fetch(`${gateway.url}/v1/configurations`, unread);
      expect(applied).toBe(expected === 200 ? 422 : 403);
      for (const [path, status] of await Promise.all([...reads, ...asks]))
        expect([path, status]).toEqual([path, expected]);
    });

    it('sees how the installation stands, and records, as an operator alone', async () => {
      const accepted = await fetch(`${gateway.url}/v1/servers/none/accept`, {
        method: 'POST',
        headers: { ...bearer(name), 'content-type': 'application/json' },
        body: JSON.stringify({ tools: [{ tool: 'echo', pin: 'x' }] }),
      });
      expect(accepted.status).toBe(isOperator ? 404 : 403);
      for (const [path, status] of [
        ['status', 200],
        ['servers', 200],
        ['connections', 200],
        ['runs/none/records', 404],
      ] as const) {
        const answer = await fetch(`${gateway.url}/v1/${path}`, { headers: bearer(name) });
        expect([path, answer.status]).toEqual([path, isOperator ? status : 403]);
      }
    });

    it('reads no approval while policy names it no approver', async () => {
      const decided = await fetch(`${gateway.url}/v1/approvals/decided`, { headers: bearer(name) });
      expect([decided.status, await decided.json()]).toEqual([200, { decisions: [], next_cursor: null }]);
      const statuses = ['approvals/a-none', 'approvals/a-3f9c'].map(
        async (path) => (await fetch(`${gateway.url}/v1/${path}`, { headers: bearer(name) })).status,
      );
      expect(await Promise.all(statuses)).toEqual([404, 404]);
    });

    it('neither sees, gives nor revokes a standing approval while policy names it no approver', async () => {
      const path = `${gateway.url}/v1/approvals/standing`;
      const listed = await fetch(path, { headers: bearer(name) });
      expect([listed.status, await listed.json()]).toEqual([200, { standing_approvals: [] }]);
      const headers = { ...bearer(name), 'content-type': 'application/json' };
      const given = { tool: 'graph-update', user: 'user:ann', until: Date.now() + 60_000 };
      const refused = [
        await fetch(path, { method: 'POST', headers, body: JSON.stringify(given) }),
        await fetch(`${path}/s-1/revoke`, { method: 'POST', headers }),
      ].map(async (answer) => [answer.status, ((await answer.json()) as { readonly not_taken: string }).not_taken]);
      expect(await Promise.all(refused)).toEqual([
        [403, 'not_an_approver'],
        [403, 'not_an_approver'],
      ]);
    });

    it('uploads files for its own questions alone', async () => {
      const uploaded = await fetch(`${gateway.url}/v1/uploads`, {
        method: 'POST',
        headers: { ...bearer(name), 'content-type': 'text/plain' },
        body: `A file of ${name}`,
      });
      expect(uploaded.status).toBe(200);
      const { content } = (await uploaded.json()) as { readonly content: { readonly hash: string } };
      for (const one of callers) {
        const body = JSON.stringify({ question: 'Q', group: [], content: [content] });
        const headers = { ...bearer(one.name), 'content-type': 'application/json', prefer: 'wait=20' };
        const run = await fetch(`${gateway.url}/v1/runs`, { method: 'POST', headers, body });
        const expected = one.name === name ? 200 : 404;
        expect([one.name, run.status === 403 ? expected : run.status]).toEqual([one.name, expected]);
      }
    });

    it('sees the verdicts of its own runs alone, and those of others as an operator', async () => {
      if (groups.length === 0) return;
      const id = `verdicts-${count++}`;
      const body = JSON.stringify({ question: 'Q', group: [], request_id: id });
      const headers = { ...bearer(name), 'content-type': 'application/json', prefer: 'wait=20' };
      await fetch(`${gateway.url}/v1/runs`, { method: 'POST', headers, body });
      for (const one of callers) {
        const mayRead = one.name === name || (one.name === operator && one.tenant === tenant);
        for (const path of ['', '/verdicts', '/content']) {
          const seen = (query: string) =>
            fetch(`${gateway.url}/v1/runs/${id}${path}${query}`, { headers: bearer(one.name) });
          const read = await seen('');
          expect([one.name, path, read.status]).toEqual([one.name, path, mayRead ? 200 : 404]);
          // Another tenant is for operators to name.
          const named = (await seen(`?tenant=${tenant}`)).status;
          const isOwn = one.tenant === tenant;
          expect([one.name, named]).toEqual([one.name, mayRead || one.name === operator ? 200 : isOwn ? 404 : 403]);
        }
      }
    });

    it('cancels its own runs alone', async () => {
      if (groups.length === 0) return;
      const id = `cancel-${count++}`;
      const json = { ...bearer(name), 'content-type': 'application/json' };
      const body = JSON.stringify({ question: 'Q', group: [], request_id: id, session_id: 'one-session' });
      await fetch(`${gateway.url}/v1/runs`, { method: 'POST', headers: { ...json, prefer: 'wait=20' }, body });
      for (const one of callers) {
        const path = `${gateway.url}/v1/runs/${id}/cancel?session_id=one-session&since=0`;
        const answer = await fetch(path, { method: 'POST', headers: bearer(one.name) });
        expect([one.name, answer.status]).toEqual([one.name, one.name === name ? 200 : 404]);
      }
    });

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

  it('lets in no caller without a credential, on no route', async () => {
    const routes = [
      'runs',
      'runs/x',
      'runs/x/verdicts',
      `runs/x/content/${'0'.repeat(64)}`,
      'usage',
      'status',
      'servers',
      'connections',
      'runs/x/records',
      'audit',
      'dead-letters',
      'dead-letters/0-0',
      'sessions',
      'tools',
      'agents',
      'groups',
      'states',
      'approvals',
      'approvals/a-none',
      'approvals/decided',
      'approvals/standing',
      'me',
      ...['', '/current', '/current/diff', '/current/matrix', '/current/findings'].map(
        (path) => `configurations${path}`,
      ),
      'audit/export',
      'audit/attestation',
    ];
    const statuses = await Promise.all(routes.map(async (route) => (await fetch(`${gateway.url}/v1/${route}`)).status));
    expect(statuses).toEqual(routes.map(() => 401));
    const posts = [
      'runs',
      'toolsets',
      'approvals',
      'approvals/decisions',
      'approvals/standing',
      'approvals/standing/s-1/revoke',
      'runs/x/cancel',
      'cancellations',
      'dead-letters/0-0/redrive',
      'configurations/check',
      'explain',
      'what-if',
      'audit/verify',
      'configurations',
      'servers/none/accept',
    ];
    const posted = posts.map(async (route) => (await fetch(`${gateway.url}/v1/${route}`, { method: 'POST' })).status);
    expect(await Promise.all(posted)).toEqual(posts.map(() => 401));
    // How one signs in is there for everyone, and where an identity is configured no link does.
    expect((await fetch(`${gateway.url}/v1/console`)).status).toBe(200);
    const signIns = ['{"code":"x"}', '{"session":"x","at":1,"signature":"x"}'].map(async (body, at) => {
      const headers = { 'content-type': 'application/json' };
      const path = `${gateway.url}/v1/console/${at === 0 ? 'sign-in' : 'renew'}`;
      return (await fetch(path, { method: 'POST', headers, body })).status;
    });
    expect(await Promise.all(signIns)).toEqual([400, 400]);
  });

  it('has each refused operator in the audit of its tenant', async () => {
    const read = async (): Promise<
      readonly { readonly user: string; readonly details: Readonly<Record<string, unknown>> }[]
    > => {
      const path = `${gateway.url}/v1/audit?kind=access_denied&outcome=authz_denied&limit=200`;
      const answer = await fetch(path, { headers: bearer('olga of acme, an operator') });
      return ((await answer.json()) as { readonly entries: Awaited<ReturnType<typeof read>> }).entries;
    };
    const entries = await eventually(read, (found) => found.length >= 9);
    expect(new Set(entries.map(({ user }) => user))).toEqual(new Set(['user:ann', 'user:bob', 'service:service']));
    expect(entries[0]?.details).toMatchObject({ escalation: false, tenant: 'acme' });
  });

  it('labels no metric with what one tenant could learn of another’s requests', async () => {
    const { metrics } = system.embedded.runtime;
    const text = await metrics.registry.metrics();
    const labelled = text.split('\n').filter((line) => /tenant="(?!")/.test(line));
    // Refused callers by name, for operators; nothing else names a tenant, and no line has a request, session or
    // question.
    expect([...new Set(labelled.map((line) => line.split('{')[0]))]).toEqual(['sluice_requests_refused_total']);
    expect(
      text
        .split('\n')
        .filter(
          (line) =>
            /"(?:run|log|cancel)-\d+"|"one-session"|globex|service:service"/.test(line) &&
            !line.startsWith('sluice_requests_refused_total'),
        ),
    ).toEqual([]);
  });
});
