import { describe, expect, it } from '@jest/globals';
import type { Configuration } from '@sluice/core';
import { compileConfiguration, configurationChanges, undescribed } from '@sluice/configuration';
import { sampleInputs } from './sample-inputs.js';

/** A configuration with these entries under `agents`, and more of its policy. */
function configured(agents: object, policy: object = {}): Configuration {
  const file = {
    tool: {
      facts: { type: 'knowledge-query', group: ['facts'] },
      asks: { type: 'agent', agent: { group: ['facts'] } },
    },
    policy: { allowed_tools: ['*'], allowed_agents: ['asks'], ...policy },
    agents,
  };
  const { configuration, problems } = compileConfiguration(file, sampleInputs);
  if (configuration === null) throw new Error(JSON.stringify(problems));
  return configuration;
}

describe('changes of agents', () => {
  const before = configured({ support: { instructions: 'Help them.', groups: ['facts'] }, old: {} });

  it('are said by the agent and the key of its entry', () => {
    const may = { principals: ['user:lead'] };
    const support = { instructions: 'Help them well.', may_cancel: may, limits: { max_iterations: 2 } };
    const changes = configurationChanges(before, configured({ support, young: { groups: ['facts'] } }));
    const shown = changes.map(({ kind, name, change, part, before: was, after: is }) => [
      kind,
      name,
      change,
      part,
      was,
      is,
    ]);
    expect(shown).toEqual([
      ['agent', 'old', 'removed', null, '', null],
      ['agent', 'support', 'changed', 'groups', 'facts', null],
      ['agent', 'support', 'changed', 'instructions', 'Help them.', 'Help them well.'],
      ['agent', 'support', 'changed', 'may cancel', null, JSON.stringify(may)],
      ['agent', 'support', 'changed', 'limits', null, '{"maxIterations":2}'],
      ['agent', 'young', 'added', null, null, 'groups: facts'],
    ]);
    expect(undescribed(before)).not.toHaveProperty('agents');
  });

  it('are said of which may be called, and how deep', () => {
    const agents = { support: { instructions: 'Help them.', groups: ['facts'] }, old: {} };
    expect(configurationChanges(before, configured(agents, { agent_depth: 3 }))).toMatchObject([
      { kind: 'policy', change: 'removed', before: 'As agents may be called asks.' },
      { kind: 'policy', change: 'added', after: 'As agents may be called asks, 3 levels deep at most.' },
    ]);
    const rules = { one: { tools: ['facts'], approvers: ['user:ann'] } };
    const ruled = configured(agents, { approval: { rules } });
    expect(undescribed(ruled)).toMatchObject({ policy: { approvalRules: [{ name: 'one' }] } });
    expect(undescribed(before)).not.toHaveProperty('policy');
  });
});
