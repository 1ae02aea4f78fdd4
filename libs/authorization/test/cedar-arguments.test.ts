import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { cedarClaims, cedarProblems, createAuthorizer } from '@sluice/authorization';
import type { AuthorizationContext, AuthorizationPort } from '@sluice/core';

const example = (file: string): string =>
  readFileSync(new URL(`../../../examples/authorization/${file}`, import.meta.url), 'utf8');
const schema = example('payments.cedarschema');
const policies = example('payments.cedar');
const anything = 'permit (principal, action, resource);';
const yes = { allowed: true };

type Call = Pick<AuthorizationContext, 'arguments' | 'claims' | 'facts'>;

/** The schema whose calls have this in their context. */
const declaring = (parts: string): string =>
  schema.replace(/ {2}\/\/ With question marks[^]*?\n};/, `  ${parts}\n};`).replace(/,\n {4}arguments\?: [^\n]*/, '');

function cedar(texts: { readonly policies?: string; readonly schema?: string } = {}): AuthorizationPort {
  const groups = { treasurers: ['user:tom'] };
  return createAuthorizer({ kind: 'cedar', policies, schema, groups, ...texts });
}

function ask(authorizer: AuthorizationPort, tool: string, call: Call, actor = 'user:ann', subject?: string) {
  const context = { tenantId: 'acme', runId: 'r', effect: 'external_side_effect', ...call } as const;
  return authorizer.check(actor, subject, 'tool.execute', { type: 'tool', id: tool }, context);
}

const pay = (changes: object, claims: readonly string[] = ['a-1']): Call => ({
  arguments: { amount: 50, account: 'a-1', ...changes },
  claims: { accounts: claims },
});

describe('Cedar, by the arguments of a call', () => {
  it('decides by the example: own account, amount, group, delegation and recipients', async () => {
    expect(cedarProblems(policies, schema)).toEqual([]);
    const authorizer = cedar();
    const money = (call: Call, ...who: string[]) => ask(authorizer, 'core__send-money', call, ...(who as [string]));
    const ofArguments = { allowed: false, missing: 'permission', argument: null };
    expect(await money({})).toEqual(yes);
    expect(await money(pay({}))).toEqual(yes);
    expect(await money(pay({ amount: 100 }))).toEqual(yes);
    expect(await money(pay({ amount: 100.01 }))).toEqual(ofArguments);
    expect(await money(pay({ account: 'a-2' }))).toEqual(ofArguments);
    expect(await money(pay({}, []))).toEqual(ofArguments);
    expect(await money(pay({ amount: 9_000, account: 'a-2' }, []), 'user:tom')).toEqual(yes);
    expect(await money(pay({ amount: 20 }), 'agent:planner', 'user:ann')).toEqual(yes);
    expect(await money(pay({}), 'agent:planner', 'user:ann')).toEqual({
      ...{ allowed: false, missing: 'delegation', argument: null },
    });
    const mail = (recipients: unknown) =>
      ask(authorizer, 'core__send-mail', { arguments: { recipients } as never, claims: { accounts: [] } });
    expect(await mail(['ann@example.org'])).toEqual(yes);
    expect(await mail(['ann@example.org', 'eve@example.net'])).toEqual(ofArguments);
  });

  it('denies a value that is not of its declared type, which a policy that forbids could not see', async () => {
    const authorizer = cedar({ policies: anything });
    for (const [name, value] of [
      ['amount', 'much'],
      ['amount', 0.123_45],
      ['amount', 1e21],
      ['amount', null],
      ['account', 7],
      ['account', '\ud800'],
      ['recipients', 'ann@example.org'],
      ['recipients', ['ann@example.org', 7]],
    ] as const)
      expect([name, value, await ask(authorizer, 'core__x', pay({ [name]: value }))]).toEqual([
        name,
        value,
        { allowed: false, missing: 'permission', argument: name },
      ]);
    expect(await ask(authorizer, 'core__x', { ...pay({}), arguments: ['amount'] })).toMatchObject({ allowed: false });
    expect(await ask(authorizer, 'core__x', pay({ amount: '12.5', other: { deep: [] } }))).toEqual(yes);
  });

  it('says nothing of arguments to a caller who may not use the tool with any', async () => {
    const denied = { allowed: false, missing: 'permission' };
    expect(await ask(cedar(), 'core__erase', pay({}))).toEqual(denied);
    expect(await ask(cedar(), 'core__erase', pay({ amount: 'much' }))).toEqual(denied);
  });

  it('is asked as before under a schema that declares nothing of a call', async () => {
    const authorizer = createAuthorizer({
      ...({ kind: 'cedar', policies: example('policies.cedar'), groups: { analysts: ['user:ann'] } } as const),
      schema: example('sluice.cedarschema'),
    });
    expect(authorizer.looksAtArguments?.('core__x')).toBe(false);
    expect(await ask(authorizer, 'core__x', { claims: { any: ['x'] }, facts: { any: 'x' } })).toEqual(yes);
    expect(cedar().looksAtArguments?.('core__x')).toBe(true);
  });

  it('has records, sets and numbers of arguments as the schema declares them', async () => {
    const nested = declaring('arguments?: { to?: { mail: String, floor?: Long }, tags?: Set<Long>, urgent?: Bool }');
    const when = (condition: string) =>
      cedar({
        schema: nested,
        policies: `${anything} forbid (principal, action == Action::"tool.execute", resource)
        when { context has arguments && ${condition} };`,
      });
    const given = { arguments: { to: { mail: 'm', floor: 3, more: 1 }, tags: [1, 2], urgent: true } };
    for (const condition of [
      'context.arguments has to && context.arguments.to.mail == "m"',
      'context.arguments has to && context.arguments.to has floor && context.arguments.to.floor > 2',
      'context.arguments has tags && context.arguments.tags.contains(2)',
      'context.arguments has urgent && context.arguments.urgent',
    ]) {
      expect([condition, await ask(when(condition), 'core__x', given)]).toMatchObject([condition, { argument: null }]);
      expect(await ask(when(condition), 'core__x', { arguments: {} })).toEqual(yes);
    }
    const lacking = await ask(cedar({ schema: nested, policies: anything }), 'core__x', { arguments: { to: {} } });
    expect(lacking).toMatchObject({ allowed: false, argument: 'to' });
  });
});

describe('Cedar, by claims and facts', () => {
  const parts = `claims?: { accounts: Set<String>, level?: Long, trusted?: Bool },
    facts?: { "total/small/0"?: decimal, "past/session/core__read"?: { count: Long }, note?: String }`;
  const given = (condition: string) =>
    cedar({
      schema: declaring(parts),
      policies: `permit (principal, action == Action::"tool.execute", resource) when { ${condition} };`,
    });
  const claims = { accounts: [], level: ['3'], trusted: [] };

  it('gives a claim as a set of its values, or as its only one', async () => {
    const level = given('context has claims && context.claims has level && context.claims.level > 2');
    expect(await ask(level, 'core__x', { claims })).toEqual(yes);
    expect(await ask(level, 'core__x', { claims: { ...claims, level: ['2'] } })).toMatchObject({ allowed: false });
    const always = given('true');
    expect(await ask(always, 'core__x', { claims: { ...claims, level: [] } })).toEqual(yes);
    // Two values, another type, and a claim that was not put on record when the run began.
    for (const level of [['3', '4'], ['high'], undefined])
      expect(await ask(always, 'core__x', { claims: { ...claims, level } as never })).toMatchObject({ allowed: false });
    expect(await ask(always, 'core__x', {})).toEqual(yes);
  });

  it('gives facts as what their texts say', async () => {
    const facts = { 'total/small/0': '80', 'past/session/core__read': '{"count":2,"running":0}' };
    const spent = given(
      'context has facts && context.facts["total/small/0"].lessThan(decimal("100.0"))'.replace(
        '&& context.facts[',
        '&& context.facts has "total/small/0" && context.facts[',
      ),
    );
    expect(await ask(spent, 'core__x', { claims, facts })).toEqual(yes);
    expect(await ask(spent, 'core__x', { claims, facts: { ...facts, 'total/small/0': '100' } })).toMatchObject({
      allowed: false,
    });
    const read = given(
      'context has facts && context.facts has "past/session/core__read" && context.facts["past/session/core__read"].count == 2',
    );
    expect(await ask(read, 'core__x', { claims, facts })).toEqual(yes);
    expect(await ask(read, 'core__x', { claims, facts: { 'past/session/core__read': '{' } })).toMatchObject({
      allowed: false,
    });
  });

  it('names the claims that the schema declares, which go onto the records', () => {
    expect(cedarClaims(declaring(parts))).toEqual(['accounts', 'level', 'trusted']);
    expect(cedarClaims(example('sluice.cedarschema'))).toEqual([]);
    expect(cedarClaims('entity ;')).toEqual([]);
  });
});

describe('Cedar schemas with declarations that cannot be served', () => {
  it.each([
    ['arguments?: String', '`arguments` of the context of Action::"tool.execute" as a String'],
    ['arguments: { amount?: Long }', '`arguments` of the context of Action::"tool.execute" without a question mark'],
    ['arguments?: { who?: User }', '`arguments.who` of the context of Action::"tool.execute" as User'],
    ['arguments?: { to?: { ip: ipaddr } }', '`arguments.to.ip` of the context of Action::"tool.execute" as ipaddr'],
    ['arguments?: { at?: Set<datetime> }', '`arguments.at` of the context of Action::"tool.execute" as datetime'],
    ['claims?: { who?: { name: String } }', '`claims.who` of the context of Action::"tool.execute" as a record'],
  ])('%s', (parts, found) => {
    const problems = cedarProblems('', declaring(parts));
    expect(problems).toMatchObject([{ in: 'schema', found }]);
    expect(problems[0]?.write).toMatch(/\?|String, Long, Bool, decimal/);
  });
});
