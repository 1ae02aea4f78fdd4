import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import { agentsFor, compileEvaluator, evaluatorFor, groupsForAgent, localPrincipal } from '@sluice/core';
import { sampleInputs } from './sample-inputs.js';

const [type] = sampleInputs.types as [(typeof sampleInputs.types)[number]];
const agentType = { ...type, type: 'agent' };
const inputs = { ...sampleInputs, types: [...sampleInputs.types, agentType] };
const tool = {
  look: { type: type.type, group: ['facts'] },
  write: { type: type.type, group: ['notes'] },
};
const model = [
  { provider: 'anthropic', name: 'small' },
  { provider: 'anthropic', name: 'large' },
];
const compile = (agents: object, more: object = {}) =>
  compileConfiguration({ tool, model, policy: { allowed_tools: ['*'] }, agents, ...more }, inputs);
const compiled = (agents: object, more: object = {}) => {
  const { configuration, problems } = compile(agents, more);
  if (configuration === null) throw new Error(formatProblems(problems));
  return configuration;
};
const under = (configuration: ReturnType<typeof compiled>, agent: string | null) =>
  evaluatorFor(compileEvaluator(configuration), { agent, call: null });

describe('named agents', () => {
  it('have what they say, and of all else what the default agent has', () => {
    const configuration = compiled(
      {
        default: { instructions: 'Be brief.', memory: 'summary', arguments: { write: { entity: { const: 'a' } } } },
        support: {
          ...{ instructions: 'Help.', memory: 'none', model: 'anthropic/large', parked_seconds: 60 },
          limits: { max_iterations: 3 },
          budgets: { calls_per_run: 5, tools: { look: { calls_per_run: 2 } } },
          arguments: { write: { entity: { max_length: 9 } } },
        },
        night: { model: ['anthropic/large'] },
      },
      { policy: { allowed_tools: ['*'], budgets: { calls_per_run: 9, tools: { look: { calls_per_run: 4 } } } } },
    );
    const [common, support, night] = [null, 'support', 'night'].map((name) => under(configuration, name).configuration);
    expect([common?.instructions, support?.instructions, night?.instructions]).toEqual(['Be brief.', 'Help.', 'Be brief.']); // prettier-ignore
    expect([common?.memory?.kind, support?.memory, night?.memory?.kind]).toEqual(['summary', undefined, 'summary']);
    expect(support?.limits).toMatchObject({ maxIterations: 3, parkedMs: 60_000, runMs: configuration.limits.runMs });
    expect(support?.policy.budgets).toMatchObject({
      callsPerRun: 5,
      tools: { core__look: expect.objectContaining({ callsPerRun: 2 }) },
    });
    const names = [support, night].map((one) => [one?.model, ...(one?.fallbacks ?? [])].map((each) => each?.name));
    expect(names).toEqual([['large', 'small'], ['large']]);
    expect(new Set([common, support, night].map((one) => one?.version)).size).toBe(1);
    const rules = under(configuration, 'support').argumentRules;
    expect([...rules.names]).toEqual(['agents.default', 'agents.support']);
  });

  it('are the same object for the same agent, and a call that a request names has none', () => {
    const base = compileEvaluator(compiled({ support: { instructions: 'Help.' } }));
    const view = evaluatorFor(base, { agent: 'support', call: null });
    expect(evaluatorFor(view, { agent: 'support', call: null })).toBe(view);
    expect(evaluatorFor(view, { agent: '', call: null })).toBe(base);
    expect(evaluatorFor(base, { agent: 'support', call: {} })).toBe(base);
  });

  it('that are gone may call nothing', () => {
    const view = under(compiled({ support: {} }), 'sales');
    expect(view.configuration.policy.allowedTools).toEqual([]);
  });

  it('narrow groups, and give a request without any their own, as far as its caller may ask for them', () => {
    const tree = { facts: ['facts/eu'] };
    expect(groupsForAgent(null, undefined, ['*'], tree)).toBeNull();
    expect(groupsForAgent(null, ['facts', 'notes'], ['facts/eu'], tree)).toEqual(['facts/eu']);
    expect(groupsForAgent(['*'], ['facts'], [], tree)).toEqual(['facts']);
    expect(groupsForAgent(['facts/eu', 'notes'], ['facts'], [], tree)).toEqual(['facts/eu']);
    expect(groupsForAgent(['notes'], ['facts'], ['*'], tree)).toEqual([]);
  });

  it('are listed for those who may ask them', () => {
    const configuration = compiled({
      support: { may_ask: { groups: ['facts'], tenants: ['acme'] } },
      audit: { may_ask: { principals: ['user:ann'] } },
      sales: {},
    });
    const ann = { ...localPrincipal, actorId: 'user:ann', groups: ['facts'] };
    expect(agentsFor(ann, configuration)).toEqual(['default', 'audit', 'sales']);
    expect(agentsFor({ ...ann, tenantId: 'acme' }, configuration)).toEqual(['default', 'audit', 'sales', 'support']);
  });

  it('lend their settings to tools that are agents', () => {
    const call = { type: 'agent', description: 'Helps.', agent: { agent: 'support' } };
    const agents = { support: { instructions: 'Help.', groups: ['facts'], model: 'anthropic/large' } };
    const { tools } = compiled(agents, { tool: { ...tool, help: call } });
    const help = tools.find(({ key }) => key === 'help');
    expect(help?.agent).toMatchObject({
      ...{ agent: 'support', groups: ['facts'], instructions: 'Help.', model: 'anthropic/large' },
    });
    const paths = (changed: object) =>
      compile(changed, { tool: { ...tool, help: call } }).problems.map(({ path }) => path);
    expect(paths({ sales: {} })).toEqual(['tool.help.agent.agent']);
    expect(paths({ support: {} })).toEqual(['tool.help.agent.group']);
  });

  it('have schemas for their answers, which are of JSON Schema and not of the model of rules', () => {
    const answer_schema = { type: 'object', properties: { n: { $ref: '#/$defs/n' } }, $defs: { n: {} } };
    const configuration = compiled({ default: { answer_schema }, other: {} });
    expect(configuration.agents?.['default']?.answerSchema).toEqual(answer_schema);
    expect(configuration.agents?.['other']?.answerSchema).toBeUndefined();
    const found = (schema: unknown, more: object = {}) =>
      compile({ sorts: { answer_schema: schema } }, more).problems.map((one) => [one.path, one.found]);
    const path = 'agents.sorts.answer_schema';
    expect(found('text')).toEqual([[path, 'the text "text"']]);
    expect(found({ $ref: 'https://example.com/s' })).toEqual([
      [path, 'the schema refers to "https://example.com/s", which is not in it. Put that schema under $defs.'],
    ]);
    expect(found({}, { model: undefined })).toEqual([[path, 'a schema for answers of the built-in model `rules`']]);
  });

  it.each([
    [{ support: { groups: ['fact'] } }, 'agents.support.groups[0]', 'facts'],
    [{ support: { model: 'anthropic/larg' } }, 'agents.support.model', 'anthropic/large'],
    [{ support: { model: ['large'] } }, 'agents.support.model[0]', 'anthropic/'],
    [{ support: { may_ask: {} } }, 'agents.support.may_ask', '`groups`'],
    [{ support: { may_ask: { groups: ['*'] } } }, 'agents.support.may_ask.groups[0]', 'leave `groups` out'],
    [{ support: { limits: { run_seconds: 301 } } }, 'agents.support.limits.run_seconds', 'at most 300'],
    [{ support: { strategy: 'plan' } }, 'agents.support.strategy', 'make-plan'],
    [{ support: { budgets: { call_per_run: 1 } } }, 'agents.support.budgets.call_per_run', '`calls_per_run`'],
  ])('refuse %j', (agents, path, write) => {
    expect(compile(agents).problems).toEqual([
      expect.objectContaining({ path, write: expect.stringContaining(write) }),
    ]);
  });
});
