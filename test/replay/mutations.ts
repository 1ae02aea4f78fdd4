import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration, ConfiguredTool } from '@sluice/core';

const schema = readFileSync(join(import.meta.dirname, '../../examples/authorization/sluice.cedarschema'), 'utf8');

export const mutations = [
  'groups',
  'states',
  'target',
  'description',
  'allowed',
  'budget',
  'approvers',
  'effects',
  'iterations',
  'arguments',
  'permissions',
  'cedar',
] as const;

/**
 * One change of a configuration: to the tool with this key, or to what is said of all. `name` is what it is changed
 * to.
 */
export interface Mutation {
  readonly tool: string;
  readonly kind: (typeof mutations)[number];
  readonly name: string;
}

/** The configuration with the change. */
export function mutated(configuration: Configuration, { tool: key, kind, name }: Mutation): Configuration {
  const { policy, limits } = configuration;
  const change = (with_: Partial<ConfiguredTool>): Configuration => ({
    ...configuration,
    tools: configuration.tools.map((tool) => (tool.key === key ? { ...tool, ...with_ } : tool)),
  });
  const id = configuration.tools.find((tool) => tool.key === key)?.id ?? '';
  const allowed = policy.allowedTools.includes(id);
  switch (kind) {
    case 'groups':
      return change({ groups: name === '*' ? [] : [name] });
    case 'states':
      return change({ states: [name] });
    case 'target':
      return change({ target: name });
    case 'allowed': {
      const rest = policy.allowedTools.filter((one) => one !== id);
      return { ...configuration, policy: { ...policy, allowedTools: allowed ? rest : [...rest, id] } };
    }
    case 'budget': {
      const budget = { timeoutMs: null, resultBytes: null, callsPerRun: 1, callsPerMinute: null };
      return { ...configuration, policy: { ...policy, budgets: { callsPerRun: null, tools: { [id]: budget } } } };
    }
    case 'approvers':
      return { ...configuration, policy: { ...policy, approvers: [] } };
    case 'description': {
      const spec = configuration.tools.find((tool) => tool.key === key)?.spec ?? null;
      return change({ spec: spec === null ? null : { ...spec, description: `Of ${name}.` } });
    }
    case 'iterations':
      return { ...configuration, limits: { ...limits, maxIterations: 1 + (name.length % 3) } };
    case 'arguments':
      return { ...configuration, limits: { ...limits, argumentBytes: 20 + name.length } };
    case 'permissions': {
      const tools = configuration.tools.map((tool) => tool.id).filter((one) => one !== id);
      const permission = { principals: ['*'], tenants: ['*'], tools, connections: ['*'] };
      return { ...configuration, authorization: { kind: 'rules', permissions: [permission], delegations: [] } };
    }
    case 'cedar': {
      const policies = `permit (principal, action, resource); forbid (principal, action, resource == Tool::"${id}");`;
      return { ...configuration, authorization: { kind: 'cedar', policies, schema, groups: {} } };
    }
    case 'effects':
      return { ...configuration, policy: { ...policy, approvalEffects: ['read_only', 'external_side_effect'] } };
  }
}
