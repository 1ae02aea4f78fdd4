import { afterEach, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { AvailabilityRule, Configuration } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { unverified } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import { ids, workflowConfiguration } from './harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

/** What another configuration would change. */
async function under({ bus }: TestSystem, change: (rules: readonly AvailabilityRule[]) => readonly AvailabilityRule[]) {
  const configs = [];
  for await (const { record } of bus.read([topics.config], { from: 'start' })) configs.push(record);
  const own = JSON.parse(configs.at(-1)?.configuration ?? '') as Configuration;
  const candidate = compileEvaluator({ ...own, rules: change(own.rules ?? []) });
  const signal = new AbortController().signal;
  const given = { authorizerOf, verifier: unverified, signal, onUndecodable: undecodable, selection: everything };
  const found = [];
  for await (const one of whatIf(bus, { ...given, candidate })) found.push(one);
  return found.flatMap(({ changes, notReplayable }) => [
    ...changes,
    ...(notReplayable === null ? [] : [notReplayable]),
  ]);
}

describe('bounds of arguments', () => {
  it('are in the schema, refuse a call with the rule’s name, and are replayed and asked about (what-if)', async () => {
    const query = (sparql: string) => [ids.query, JSON.stringify({ sparql })] as const;
    const model = new ScriptedModel(
      inOrder(
        { calls: [query('DROP ALL'), query('SELECT * WHERE { ?s ?p ?o } LIMIT 2')] },
        { calls: [[ids.text, '{"prompt":"much too long"}']] },
      ),
    );
    const rules = `
lists: { forms: [SELECT, ASK] }
rules:
  reading-only: { tools: [knowledge-query], arguments: { sparql: { pattern: '^SELECT ' } } }
  for-others: { tools: [knowledge-query], for: { tenants: [other] }, arguments: { sparql: { const: x } } }
agents: { default: { arguments: { text-completion: { prompt: { max_length: 5 } } } } }
`;
    system = await startSystem(workflowConfiguration({ limits: rules }), model);
    const response = await system.ask({ group: ['*'], state: 'research' });
    const [dropped, selected, long] = response.history;
    expect(dropped).toMatchObject({ outcome: 'policy_denied', reason: 'arguments_out_of_bounds' });
    expect(dropped?.observation).toBe(
      'The argument sparql is out of its bounds by the rule "reading-only": it must be a text with the pattern ^SELECT . Change it and call again, or go on without the call.',
    );
    expect(selected?.outcome).toBe('ok');
    expect(long?.observation).toContain('by the rule "agents.default": it must have at most 5 characters or items');
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.map(({ rule }) => rule)).toEqual(['reading-only', null, 'agents.default']);
    // The history goes on without it.
    expect(response.history.map(({ rule }) => rule)).toEqual([null, null, null]);
    const shown = model.asked[0]?.tools.find(({ id }) => id === ids.query)?.inputSchema;
    expect(shown).toMatchObject({ properties: { sparql: { pattern: '^SELECT ' } } });

    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(await under(system, (own) => own)).toEqual([]);
    const was = 'refused: arguments_out_of_bounds';
    const change = { kind: 'call', tool: 'knowledge-query' } as const;
    const without = { ...change, index: 0, was, would: 'made', rule: 'reading-only' };
    expect(await under(system, () => [])).toContainEqual(without);
    const more: AvailabilityRule = { name: 'r', tools: [ids.query], arguments: { sparql: { maxLength: 9 } } };
    expect(await under(system, (own) => [...own, more])).toContainEqual({
      ...change,
      index: 1,
      was: 'made',
      would: was,
      rule: 'r',
    });
  });
});
