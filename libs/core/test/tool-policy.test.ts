import { describe, expect, it } from '@jest/globals';
import { allowed, compileEvaluator, compilePolicy, noCalls } from '@sluice/core';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import type { Configuration, Evaluator, ToolPolicyDecision } from '@sluice/core';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const id = { reads: 'core__reads', writes: 'core__writes' } as const;

/** A policy over a tool that reads and one that writes. */
function configurationWith(policy: object | null): Configuration {
  const tool = { reads: { type: 'knowledge-query' }, writes: { type: 'graph-update' } };
  const { configuration, problems } = compileConfiguration(
    { tool, ...(policy === null ? {} : { policy }) },
    sampleInputs,
  );
  if (configuration === null) throw new Error(formatProblems(problems));
  return configuration;
}

const both = { allowed_tools: ['reads', 'writes'] };
const approvers = ['user:ann'];
const table: readonly [what: string, policy: object | null, reads: ToolPolicyDecision, writes: ToolPolicyDecision][] = [
  ['no policy', null, 'deny', 'deny'],
  ['an empty policy', {}, 'deny', 'deny'],
  ['one tool named', { allowed_tools: ['reads'] }, 'allow', 'deny'],
  ['both named', both, 'allow', 'allow'],
  ['both by the wildcard', { allowed_tools: ['*'] }, 'allow', 'allow'],
  ['somebody who approves what changes', { ...both, approval: { approvers } }, 'allow', 'require_approval'],
  ['nobody who approves', { ...both, approval: { effects: ['state_change'] } }, 'allow', 'deny'],
  ['reading that is approved', { ...both, approval: { approvers, effects: ['read_only'] } }, 'require_approval', 'allow'],
  ['an approver of what is not named', { approval: { approvers } }, 'deny', 'deny'],
]; // prettier-ignore

describe.each(table.map(([what, policy, reads, writes]) => [what, { policy, reads, writes }] as const))(
  'a policy with %s',
  (_what, { policy, reads, writes }) => {
    const configuration = configurationWith(policy);
    const decisions = (of: Configuration): readonly ToolPolicyDecision[] =>
      of.tools.map(compilePolicy(of.policy, of.identity).decide);

    it('decides between allow, deny and require_approval (C-01, T-20a)', () => {
      expect(decisions(configuration)).toEqual([reads, writes]);
    });

    it('is the same when it comes off the log as JSON (C-03, T-19b)', () => {
      const read = JSON.parse(JSON.stringify(configuration)) as Configuration;
      expect(read.policy).toEqual(configuration.policy);
      expect(decisions(read)).toEqual([reads, writes]);
    });

    it('is asked for what is offered and for what is run, and neither goes past a denial (C-04, C-07)', () => {
      const evaluator: Evaluator = compileEvaluator(configuration);
      const decision = evaluator.evaluate({
        groups: null,
        state: null,
        toolIds: null,
        calls: noCalls,
        connections: [],
      });
      const passed = [...(reads === 'deny' ? [] : [id.reads]), ...(writes === 'deny' ? [] : [id.writes])];
      expect(decision.offered.map((tool) => tool.id)).toEqual(passed);
      const facts = {
        groups: ['default'],
        state: 'undefined',
        offered: new Set(Object.values(id)),
        calls: noCalls,
        toolChoice: null,
        completed: false,
        depth: 0,
        connections: [],
      };
      const judges = { granting: evaluator, inForce: evaluator };
      expect(Object.values(id).filter((one) => allowed(one, facts, judges).ok)).toEqual(passed);
    });
  },
);

it('a policy denies a tool it has never heard of (C-01, T-20b)', () => {
  const { policy, identity } = configurationWith({ allowed_tools: ['*'] });
  expect(compilePolicy(policy, identity).decide({ id: 'core__other', spec: null })).toBe('deny');
});

describe('approvers that no one can be', () => {
  const rule = (of: object) => ({ rules: { twice: { tools: ['writes'], ...of } } });
  const [none, keys, jwt] = ['none', 'api-keys', 'jwt'] as const;
  it.each([
    [{ approvers: ['group:finance'] }, [keys, jwt]],
    [{ approvers: ['role:treasurer', 'claim:department=finance'] }, [jwt]],
    [{ approvers: ['role:treasurer', 'user:ann'] }, [none, keys, jwt]],
    [{ approvers: ['*'] }, [none, keys, jwt]],
    [{ approvers: ['user:ann'], ...rule({ approvers: ['role:x'] }) }, [jwt]],
    [rule({ approvers: ['role:x'], escalate: { after_seconds: 60, to: ['user:ann'] } }), [none, keys, jwt]],
    [rule({ approvers: ['role:x', 'user:ann'], quorum: 2 }), [jwt]],
    [rule({ approvers: ['role:x', 'user:ann', 'group:y'], quorum: 2 }), [keys, jwt]],
    [rule({ approvers: ['*'], quorum: 2 }), [none, keys, jwt]],
  ])('%j are there for %j alone', (approval, providers) => {
    const { policy } = configurationWith({ ...both, approval });
    const asking = [none, keys, jwt].filter(
      (provider) =>
        compilePolicy(policy, { provider }).decide({
          id: id.writes,
          spec: { effect: 'state_change' } as never,
        }) === 'require_approval',
    );
    expect(asking).toEqual(providers);
  });

  it('are denied at once, as where there are none', () => {
    const evaluator = compileEvaluator(configurationWith({ ...both, approval: { approvers: ['group:finance'] } }));
    const facts = { groups: ['default'], state: 'undefined', offered: new Set([id.writes]), calls: noCalls };
    const rest = { toolChoice: null, completed: false, depth: 0, connections: [] };
    const verdict = allowed(id.writes, { ...facts, ...rest }, { granting: evaluator, inForce: evaluator });
    expect(verdict).toMatchObject({ ok: false, code: 'policy_denied', reason: 'no_approver' });
  });
});
