import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { cedarClaims, cedarProblems, createAuthorizer } from '@sluice/authorization';
import { authorize, claimsOf, parseExactJson, recordedDenial } from '@sluice/core';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import type { AuthorizationPort, AuthorizationSettings } from '@sluice/core';
import { parse } from 'yaml';
import { serveOpenFga } from './openfga-server.js';
import type { Tuple } from './openfga-server.js';

interface Case {
  readonly name: string;
  readonly actor: string;
  readonly subject?: string;
  readonly tool?: string;
  readonly connection?: string;
  readonly tenant?: string;
  readonly allowed?: true;
  readonly missing?: 'permission' | 'delegation';
}

const here = (file: string): string => new URL(`./${file}`, import.meta.url).pathname;
const text = (file: string): string => readFileSync(here(file), 'utf8');
const schema = here('../../../examples/authorization/sluice.cedarschema');

const { cases, groups, ...rules } = parse(text('cases/world.yaml')) as {
  readonly cases: readonly Case[];
  readonly groups: object;
};

/** The settings that a file with this section compiles to, through the real Cedar and the real files. */
function compiled(authorization: object): AuthorizationSettings | null {
  const tool = Object.fromEntries(['query', 'update', 'erase'].map((key) => [key, { type: 'knowledge-query' }]));
  const type = {
    type: 'knowledge-query',
    description: '',
    inputSchema: { type: 'object' },
    effect: 'read_only' as const,
    redaction: { whole: true as const },
    repeatable: true,
  };
  const { configuration, problems } = compileConfiguration(
    { tool, authorization },
    {
      types: [type],
      offers: [],
      digest: (content) => createHash('sha256').update(content).digest('hex'),
      files: { read: (file) => ({ text: readFileSync(file, 'utf8') }), cedarProblems, cedarClaims },
    },
  );
  if (configuration === null) throw new Error(formatProblems(problems));
  // As it comes off the log.
  return (JSON.parse(JSON.stringify(configuration)) as typeof configuration).authorization;
}

const cedar = { policies: here('cases/world.cedar'), schema };

/** The same world as tuples; delegations hold for the resources of a condition. */
const people = [...['ann', 'bob'].map((name) => `user:acme/${name}`)];
const delegated = ({ resource }: { readonly resource?: unknown }): boolean =>
  resource === 'core__query' || resource === 'shared';
const everyone = [...people, 'user:acme/eve', 'agent:acme/planner', 'agent:acme/other', 'service:acme/night'];
const store = '01J0000000000000000000000A';
const fga = await serveOpenFga(store, [
  ...people.flatMap((user) =>
    ['core__query', 'core__update'].map((id) => ({ user, relation: 'can_execute', object: `tool:${id}` })),
  ),
  ...['acme', 'other'].map((tenant) => ({
    ...{ user: `service:${tenant}/night`, relation: 'can_execute', object: 'tool:core__query' },
  })),
  ...everyone.map((user) => ({ user, relation: 'can_use', object: 'connection:shared' })),
  ...people.map((object) => ({ user: 'agent:acme/planner', relation: 'can_act_for', object, when: delegated })),
]);
afterAll(() => fga.close());

describe.each<[string, AuthorizationPort]>([
  ['OpenFGA', createAuthorizer(compiled({ openfga: { url: fga.url, store, timeout_seconds: 10 } }))],
  ['the built-in rules', createAuthorizer(compiled({ groups, ...rules }))],
  ['Cedar', createAuthorizer(compiled({ groups, cedar }))],
])('%s (T-F1a, T-F1b, C-02, E-03, K-54)', (_name, authorizer) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', async (_case, one) => {
    const { actor, subject, tool, connection, tenant = 'acme' } = one;
    const context = { tenantId: tenant, runId: 'r', effect: 'read_only' as const };
    const answer =
      tool === undefined
        ? authorizer.check(actor, subject, 'connection.use', { type: 'connection', id: connection ?? '' }, context)
        : authorizer.check(actor, subject, 'tool.execute', { type: 'tool', id: tool }, context);
    expect(await answer).toEqual(one.allowed ? { allowed: true } : { allowed: false, missing: one.missing });
  });
});

describe('Cedar with claims in its schema', () => {
  it('has them put onto the records, and no others', () => {
    const example = (file: string) => here(`../../../examples/authorization/${file}`);
    const payments = { policies: example('payments.cedar'), schema: example('payments.cedarschema') };
    const authorization = compiled({ groups: { treasurers: ['user:tom'] }, cedar: payments });
    expect(claimsOf({ tools: [], authorization })).toEqual(['accounts']);
    expect(claimsOf({ tools: [], authorization: compiled({ groups, cedar }) })).toEqual([]);
  });
});

describe('no authorization (X-4)', () => {
  it('permits everybody everything', async () => {
    const context = { tenantId: 't', runId: 'r', effect: 'external_side_effect' as const };
    const resource = { type: 'tool', id: 'x' } as const;
    const answer = createAuthorizer(null).check('user:a', 'user:b', 'tool.execute', resource, context);
    expect(await answer).toEqual({ allowed: true });
  });
});

describe('OpenFGA, where a call is decided', () => {
  const onTool = { id: 'core__query', effect: 'read_only' as const };
  const settings = (url: string) =>
    ({ kind: 'openfga', url, store: 's', model: null, keyEnv: null, timeoutMs: 30_000 }) as const;
  const contextOf = (subjectId?: string) =>
    ({
      ...{ actorId: 'agent:planner', tenantId: 'acme', runId: 'r', toolCallId: 'c', connectionId: 'shared' },
      ...(subjectId === undefined ? {} : { subjectId }),
    }) as Parameters<typeof authorize>[3];

  it('denies with what replay reads off the step again: permission or delegation, tool or connection', async () => {
    const user = 'user:acme/ann';
    const server = await serveOpenFga('s', [{ user, relation: 'can_execute', object: 'tool:core__query' }]);
    try {
      const fga = [createAuthorizer(settings(server.url))];
      for (const [action, subject, missing] of [
        ['tool.execute', undefined, 'permission'],
        ['tool.execute', 'user:ann', 'delegation'],
        ['connection.use', 'user:ann', 'permission'],
      ] as const) {
        const verdict = await authorize(fga, action, onTool, contextOf(subject), () => undefined);
        if (verdict.ok) throw new Error('It is denied.');
        const step = { outcome: verdict.code, reason: verdict.reason ?? null, observation: verdict.message };
        expect(recordedDenial(step, action)).toEqual({ allowed: false, missing });
        const other = action === 'tool.execute' ? 'connection.use' : 'tool.execute';
        expect(recordedDenial(step, other)).toBeNull();
      }
    } finally {
      await server.close();
    }
  });

  it('keeps no answer: what is written holds at once, and a failure is no denial and is not remembered', async () => {
    const tuples: Tuple[] = [];
    const server = await serveOpenFga('s', tuples);
    const fga = [createAuthorizer(settings(server.url))];
    const faults: unknown[] = [];
    const ask = () => authorize(fga, 'tool.execute', onTool, contextOf(), (error) => faults.push(error));
    expect(await ask()).toMatchObject({ ok: false, code: 'authz_denied', reason: 'not_permitted' });
    tuples.push({ user: 'agent:acme/planner', relation: 'can_execute', object: 'tool:core__query' });
    expect(await ask()).toEqual({ ok: true });
    await server.close();
    const verdict = await ask();
    expect(verdict).toMatchObject({ ok: false, code: 'unavailable', reason: 'authorizer_unreachable' });
    expect(JSON.stringify(verdict)).not.toContain('127.0.0.1');
    expect(faults).toHaveLength(1);
    if (!verdict.ok)
      expect(
        recordedDenial(
          { outcome: verdict.code, reason: verdict.reason ?? null, observation: verdict.message },
          'tool.execute',
        ),
      ).toBeNull();
  });
});

describe('OpenFGA, by the values of arguments', () => {
  const user = 'user:acme/ann';
  const related = (relation: string, object: string) => ({ user, relation, object });
  const objects = { path: 'account', type: 'account', relation: 'can_pay_from' };
  const tool = (name: string) => ({ type: 'tool', id: `core__${name}` }) as const;
  const context = { tenantId: 'acme', runId: 'r', effect: 'external_side_effect' } as const;
  const call = (args: object) => ({ ...context, arguments: args as never, claims: { of: ['a'] }, facts: { n: '1' } });
  const ofAccount = { allowed: false, missing: 'permission', argument: 'account' };

  it('needs the relation to each of them, of whom the call is for, in its tenant', async () => {
    const server = await serveOpenFga('s', [
      ...['pay', 'look'].map((name) => related('can_execute', `tool:core__${name}`)),
      ...['a-1', 'a%3A2', '7'].map((name) => related('can_pay_from', `account:acme/${name}`)),
      related('can_pay_from', 'account:other/a-3'),
      { user: 'agent:acme/planner', relation: 'can_act_for', object: user },
    ]);
    try {
      const fga = createAuthorizer({
        ...({ kind: 'openfga', url: server.url, store: 's', model: null, keyEnv: null, timeoutMs: 30_000 } as const),
        arguments: { core__pay: [objects, { ...objects, path: 'more/*/account' }] },
      });
      const ask = (args: object, actor = 'user:ann', subject?: string) =>
        fga.check(actor, subject, 'tool.execute', tool('pay'), call(args));
      for (const account of ['a-1', 'a:2', 7, ['a-1', 'a:2']])
        expect(await ask({ account })).toEqual({ allowed: true });
      expect(await ask({ account: 'a-1' }, 'agent:planner', 'user:ann')).toEqual({ allowed: true });
      expect(await ask({})).toEqual({ allowed: true });
      const many = Array.from({ length: 21 }, (_, n) => `b-${String(n)}`);
      for (const account of ['a-3', 'b', '', null, { a: 1 }, ['a-1', 'b'], [['a-1']], '\ud800', 'x'.repeat(257), many])
        expect([account, await ask({ account })]).toEqual([account, ofAccount]);
      expect(await ask({ account: 'a-3' }, 'agent:planner', 'user:ann')).toEqual(ofAccount);
      expect(await ask({ more: [{ account: 'a-1' }, { account: 'b' }] })).toMatchObject({ argument: 'more/*/account' });
      expect(await ask({ more: 'b' })).toMatchObject({ argument: 'more/*/account' });
      // Another tool, a list of tools, and who may not use the tool at all.
      expect(await fga.check('user:ann', undefined, 'tool.execute', tool('look'), context)).toEqual({ allowed: true });
      expect([fga.looksAtArguments?.('core__pay'), fga.looksAtArguments?.('core__look')]).toEqual([true, false]);
      expect(await fga.check('user:ann', undefined, 'tool.execute', tool('pay'), context)).toEqual({ allowed: true });
      expect(await ask({ account: 'a-1' }, 'user:eve')).toEqual({ allowed: false, missing: 'permission' });
    } finally {
      await server.close();
    }
  });

  it('gives conditions of the call what the configuration names, and nothing of it for a list', async () => {
    const limit = ({ arguments: args = {} }: { readonly arguments?: { amount?: number } }): boolean =>
      (args.amount ?? 0) <= 100;
    const server = await serveOpenFga('s', [{ ...related('can_execute', 'tool:core__pay'), when: limit }]);
    try {
      const openfga = { url: server.url, store: 's', timeout_seconds: 10, context: ['facts', 'arguments'] };
      const fga = createAuthorizer(compiled({ openfga }));
      const ask = (about: ReturnType<typeof call> | typeof context) =>
        fga.check('user:ann', undefined, 'tool.execute', tool('pay'), about);
      expect(await ask(call({ amount: 100 }))).toEqual({ allowed: true });
      expect(await ask(call({ amount: 101 }))).toEqual({ allowed: false, missing: 'permission' });
      expect(await ask(context)).toEqual({ allowed: true });
      const asked = server.asked.map((one) => (one as { readonly context: object }).context);
      expect(asked[0]).toMatchObject({ arguments: { amount: 100 }, facts: { n: '1' } });
      expect(asked[2]).toMatchObject({ arguments: {}, facts: {} });
      expect(asked[0]).not.toHaveProperty('claims');
      // The store reads numbers as doubles.
      const inexact = call(parseExactJson('{"amount":9007199254740993}') as object);
      expect(await ask(inexact)).toEqual({ allowed: false, missing: 'permission', argument: null });
      expect(await ask(call(parseExactJson('{"amount":100.0}') as object))).toEqual({ allowed: true });
      expect(server.asked).toHaveLength(4);
    } finally {
      await server.close();
    }
  });

  it('refuses in the configuration what could check nothing', () => {
    const reading = (more: object) => () => compiled({ openfga: { url: 'http://127.0.0.1:9', store: 's', ...more } });
    expect(reading({ arguments: { query: [objects] } })()).toMatchObject({ arguments: { core__query: [objects] } });
    for (const [more, said] of [
      [{ arguments: { qery: [objects] } }, 'qery'],
      [{ arguments: { query: [{ ...objects, path: 'a//b' }] } }, 'names with `/` between'],
      [{ arguments: { query: [{ ...objects, type: 'a:b' }] } }, 'a name as the model has it'],
      [{ arguments: { query: [{ path: 'account', type: 'account' }] } }, 'a relation of the model'],
      [{ context: ['argument'] }, 'arguments'],
    ] as const)
      expect(reading(more)).toThrow(said);
  });
});

describe('OpenFGA', () => {
  const context = { tenantId: 'a b', runId: 'r', effect: 'state_change' as const };
  const tool = { type: 'tool', id: 'core__x' } as const;

  it('is asked with names that mean nothing else there, the key, the model and the facts of the call', async () => {
    const server = await serveOpenFga('s', [], 'k-1');
    try {
      const settings = {
        kind: 'openfga',
        url: `${server.url}/`,
        store: 's',
        model: 'm',
        keyEnv: 'KEY',
        timeoutMs: 30_000,
      } as const;
      const authorizer = createAuthorizer(settings, () => 'k-1');
      for (const name of ['*', 'group:x#member', 'ann@example.com'])
        expect(await authorizer.check(`user:${name}`, undefined, 'tool.execute', tool, context)).toMatchObject({
          allowed: false,
        });
      expect(server.asked.map((one) => (one as { tuple_key: { user: string } }).tuple_key.user)).toEqual([
        'user:a%20b/%2A',
        'user:a%20b/group%3Ax%23member',
        'user:a%20b/ann%40example.com',
      ]);
      expect(server.asked[0]).toMatchObject({
        tuple_key: { relation: 'can_execute', object: 'tool:core__x' },
        authorization_model_id: 'm',
        context: { tenant: 'a b', effect: 'state_change', action: 'tool.execute', resource: 'core__x' },
      });
      await expect(
        createAuthorizer({ ...settings, store: 'none' }, () => 'k-1').check(
          'user:a',
          undefined,
          'tool.execute',
          tool,
          context,
        ),
      ).rejects.toThrow('answered with 404');
      await expect(
        createAuthorizer(settings).check('user:a', undefined, 'tool.execute', tool, context),
      ).rejects.toThrow('KEY');
    } finally {
      await server.close();
    }
    const gone = {
      kind: 'openfga',
      url: server.url,
      store: 's',
      model: null,
      keyEnv: null,
      timeoutMs: 30_000,
    } as const;
    await expect(createAuthorizer(gone).check('user:a', undefined, 'tool.execute', tool, context)).rejects.toThrow(
      'cannot be reached',
    );
  });
});
