import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { cedarProblems, createAuthorizer } from '@sluice/authorization';
import type { ToolEffect } from '@sluice/core';

const example = (file: string): string =>
  readFileSync(new URL(`../../../examples/authorization/${file}`, import.meta.url), 'utf8');
const schema = example('sluice.cedarschema');
const anything = 'permit (principal, action, resource);';

describe('Cedar texts that are refused when they are compiled (K-61)', () => {
  it.each<[string, string, string, 'policies' | 'schema', RegExp]>([
    ['policies that do not parse', '\npermit (principal, acton, resource);', schema, 'policies', /acton.*line 2/],
    ['a schema that does not parse', anything, 'entity ;', 'schema', /unexpected token.*line 1/],
    [
      'an attribute that the schema does not have',
      'permit (principal, action == Action::"tool.execute", resource) when { context.efect == "read_only" };',
      schema,
      'policies',
      /efect.*did you mean `effect`.*line 1/,
    ],
    [
      'an action that the schema does not have',
      'permit (principal, action == Action::"tool.run", resource);',
      schema,
      'policies',
      /tool\.run/,
    ],
    [
      'a comparison of things that are never equal',
      'permit (principal, action, resource) when { context.effect == 7 };',
      schema,
      'policies',
      /.+/,
    ],
    [
      'a schema without what is asked',
      '',
      schema.replace('"act.for"', '"acts.for"'),
      'schema',
      /Action::"act\.for"` does not exist/,
    ],
    [
      'a schema whose context lacks what is asked',
      '',
      schema.replace('type Asked = { tenant: String, effect: String };', 'type Asked = { tenant: String };'),
      'schema',
      /context/,
    ],
  ])('%s', (_name, policies, given, where, holds) => {
    const problems = cedarProblems(policies, given);
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) {
      expect(problem.in).toBe(where);
      expect(problem.found).toMatch(holds);
    }
  });

  it('are all named in one pass', () => {
    const problems = cedarProblems('permit (principal);', 'entity ;');
    expect(problems.map((problem) => problem.in).sort()).toEqual(['policies', 'schema']);
  });

  it('are none for the example, and none for no policies at all', () => {
    expect(cedarProblems(example('policies.cedar'), schema)).toEqual([]);
    expect(cedarProblems('', schema)).toEqual([]);
  });
});

describe('Cedar', () => {
  const ask = (policies: string, actor: string, effect: ToolEffect, tenantId = 'local', subject?: string) =>
    createAuthorizer({ kind: 'cedar', policies, schema, groups: { analysts: ['user:ann'] } }).check(
      actor,
      subject,
      'tool.execute',
      { type: 'tool', id: 'core__x' },
      { tenantId, runId: 'r', effect },
    );

  it('decides by the example’s policies: effect, tenant, group and delegation', async () => {
    const policies = example('policies.cedar');
    const yes = { allowed: true };
    expect(await ask(policies, 'user:local', 'read_only')).toEqual(yes);
    expect(await ask(policies, 'user:local', 'state_change')).toMatchObject({ missing: 'permission' });
    expect(await ask(policies, 'user:local', 'read_only', 'acme')).toMatchObject({ missing: 'permission' });
    expect(await ask(policies, 'user:ann', 'state_change', 'acme')).toEqual(yes);
    expect(await ask(policies, 'agent:planner', 'read_only', 'acme', 'user:ann')).toEqual(yes);
    expect(await ask(policies, 'agent:planner', 'state_change', 'acme', 'user:ann')).toMatchObject({
      missing: 'delegation',
    });
  });

  it('denies where it permits and forbids (deny wins)', async () => {
    const policies = `${anything} forbid (principal == User::"eve", action, resource);`;
    expect(await ask(policies, 'user:eve', 'read_only')).toMatchObject({ allowed: false });
    expect(await ask(policies, 'user:ann', 'read_only')).toEqual({ allowed: true });
  });

  it('is an outage and no permission where a policy fails while it is evaluated (X-4, X-22)', async () => {
    // Arithmetic beyond 64 bits passes the validator and fails when it is reached, and a forbid that fails forbids
    // nothing.
    const overflow = 'forbid (principal, action, resource) when { 9223372036854775807 + 1 == 0 };';
    expect(cedarProblems(overflow, schema)).toEqual([]);
    await expect(ask(`${anything} ${overflow}`, 'user:ann', 'read_only')).rejects.toThrow(/cannot decide.*overflow/);
  });

  it('is an outage as well under texts that never were compiled', async () => {
    await expect(ask('nonsense', 'user:ann', 'read_only')).rejects.toThrow(/cannot decide/);
  });
});

describe('Cedar policies by what their scopes name', () => {
  const context = { tenantId: 'acme', runId: 'r', effect: 'read_only' as ToolEffect };
  const groups = { staff: ['user:ann', 'user:bob'], boss: ['user:bob'] };
  /** Every form of scope that the schema takes, and conditions that differ in what they need. */
  const principals = ['principal', 'principal == User::"ann"', 'principal in Group::"staff"', 'principal is User'];
  const actions = ['action', 'action == Action::"tool.execute"', 'action in [Action::"tool.execute"]'];
  const resources = ['resource', 'resource == Tool::"core__a"', 'resource in Tool::"core__b"', 'resource is Tool'];
  const every = principals.flatMap((principal) =>
    actions.flatMap((action) => resources.map((resource) => `${principal}, ${action}, ${resource}`)),
  );

  it.each(['permit', 'forbid'])('decide as the whole text does, for %s with every scope', async (effect) => {
    for (const scope of every) {
      const others = ['core__c', 'core__d'].map(
        (id) => `permit (principal == User::"bob", action == Action::"tool.execute", resource == Tool::"${id}");`,
      );
      const base = effect === 'forbid' ? [anything] : [];
      const policies = [...base, ...others, `${effect} (${scope});`].join('\n');
      const sliced = createAuthorizer({ kind: 'cedar', policies, schema, groups });
      // A condition that names the action and the resource hides them from the scope, so that nothing can be left out.
      const hidden = policies.replaceAll(
        /action == (Action::"[^"]+"), resource == (Tool::"[^"]+")\);/g,
        'action, resource) when { action == $1 && resource == $2 };',
      );
      const whole = createAuthorizer({ kind: 'cedar', policies: hidden, schema, groups });
      for (const user of ['user:ann', 'user:bob', 'user:eve'])
        for (const id of ['core__a', 'core__b', 'core__c', 'core__other']) {
          const asked = [user, undefined, 'tool.execute', { type: 'tool', id } as const, context] as const;
          expect([scope, user, id, await sliced.check(...asked)]).toEqual([
            scope,
            user,
            id,
            await whole.check(...asked),
          ]);
        }
    }
  });

  it('are still an outage where one of them fails, and not where one about another tool would', async () => {
    const long = (id: string) =>
      `permit (principal, action == Action::"tool.execute", resource == Tool::"${id}") when { 9223372036854775807 + 1 > 0 };`;
    const authorizer = createAuthorizer({ kind: 'cedar', policies: `${anything}\n${long('core__a')}`, schema, groups });
    const ask = (id: string) => authorizer.check('user:ann', undefined, 'tool.execute', { type: 'tool', id }, context);
    await expect(ask('core__a')).rejects.toThrow('Cedar cannot decide');
    expect(await ask('core__b')).toEqual({ allowed: true });
  });
});
