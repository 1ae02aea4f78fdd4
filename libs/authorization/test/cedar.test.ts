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
    // Arithmetic beyond 64 bits passes the validator and fails when it is reached, and a forbid that fails forbids nothing.
    const overflow = 'forbid (principal, action, resource) when { 9223372036854775807 + 1 == 0 };';
    expect(cedarProblems(overflow, schema)).toEqual([]);
    await expect(ask(`${anything} ${overflow}`, 'user:ann', 'read_only')).rejects.toThrow(/cannot decide.*overflow/);
  });

  it('is an outage as well under texts that never were compiled', async () => {
    await expect(ask('nonsense', 'user:ann', 'read_only')).rejects.toThrow(/cannot decide/);
  });
});
