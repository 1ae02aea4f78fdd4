import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { AvailabilityRule, Configuration, ListLookup, Lists } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { unverified } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import { run as toolsCommand } from '../apps/sluice/src/commands/tools.js';
import { ids, workflowConfiguration } from './harness/configurations.js';
import { inProcess } from './harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { authorizerOf, replayed, undecodable } from './replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

/** What another configuration would change. */
async function under(
  { bus }: TestSystem,
  change: (rules: readonly AvailabilityRule[]) => readonly AvailabilityRule[],
  lists: Lists = {},
) {
  const configs = [];
  for await (const { record } of bus.read([topics.config], { from: 'start' })) configs.push(record);
  const own = JSON.parse(configs.at(-1)?.configuration ?? '') as Configuration;
  const changed = { rules: change(own.rules ?? []), lists: { ...own.lists, ...lists } };
  const candidate = compileEvaluator({ ...own, version: 'c-candidate', ...changed });
  const signal = new AbortController().signal;
  const given = { authorizerOf, verifier: unverified, signal, onUndecodable: undecodable, selection: everything };
  const found = [];
  for await (const one of whatIf(bus, { ...given, candidate })) found.push(one);
  return found.flatMap(({ changes, notReplayable }) => [
    ...changes,
    ...(notReplayable === null ? [] : [notReplayable]),
  ]);
}

function lookupOf(host: string): ListLookup {
  return { url: `http://${host}/`, keyEnv: null, items: '*', refreshMs: 1_000, staleMs: 1, timeoutMs: 1_000 };
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

    const [toolset] = await system.all('agent.toolsets');
    const { configVersion, requestId, tools = [] } = toolset?.record ?? {};
    const hash = tools.find(({ id }) => id === ids.query)?.schemaHash ?? '';
    const { environment } = system.embedded.runtime;
    const ofRun = (request: string) => inProcess(toolsCommand, environment, '--hash', hash, '--request', request);
    const { code, output } = await ofRun(requestId ?? '');
    expect([code, JSON.parse(output)]).toMatchObject([
      0,
      { config_version: configVersion, id: ids.query, schema_hash: hash, input_schema: shown },
    ]);
    expect(await ofRun('none')).toEqual({
      code: 1,
      output: 'The log has no run of this request_id that a filter has decided about.\n',
    });
    const plain = await inProcess(toolsCommand, environment, '--hash', hash);
    expect([plain.code, plain.output]).toEqual([1, expect.stringContaining('--request ID')]);

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

  it('may be on lists that are looked up, and close where these cannot be read; replay and what-if read none', async () => {
    const asked: string[] = [];
    let listed = ['one', 'two'];
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      if (listed.length === 0) response.writeHead(503).end();
      else response.end(JSON.stringify({ prompts: listed }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const say = (prompt: string) => [ids.text, JSON.stringify({ prompt })] as const;
    const model = new ScriptedModel(({ question, history }) =>
      history.length > 0 || !question.startsWith('[')
        ? { answer: 'done' }
        : { calls: (JSON.parse(question) as string[]).map(say) },
    );
    const lookup = `{ url: 'http://${host}/of/{tenant}/{user}', items: prompts/*, refresh: 1s, stale_for: 1ms }`;
    const more = `
web: { private_hosts: ["${host}"] }
lists: { prompts: { lookup: ${lookup} } }
rules: { known-prompts: { tools: [text-completion], arguments: { prompt: { one_of: { list: prompts } } } } }
`;
    const own = (system = await startSystem(workflowConfiguration({ limits: more }), model));
    const saying = async (...prompts: string[]) => {
      const { history } = await own.ask({ group: ['*'], question: JSON.stringify(prompts) });
      return history.map(({ outcome, observation }) => (outcome === 'ok' ? outcome : observation));
    };
    const refused = 'The argument prompt is out of its bounds by the rule "known-prompts": ';
    expect(await saying('two', 'three')).toEqual([
      'ok',
      expect.stringContaining(`${refused}it must be one of the list prompts, which is kept elsewhere. `),
    ]);
    expect(asked).toEqual(['/of/local/user%3Alocal']);
    expect(model.asked[0]?.tools.find(({ id }) => id === ids.text)?.inputSchema).toMatchObject({
      properties: { prompt: { description: expect.stringContaining('One of the list prompts.') } },
    });
    listed = [];
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await saying('two')).toEqual([
      expect.stringContaining(`${refused}the list prompts could not be read, so no value is within it now. `),
    ]);
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(steps.map(({ facts }) => facts)).toEqual([
      { 'lookup/prompts/two': 'listed' },
      { 'lookup/prompts/three': 'not listed' },
      { 'lookup/prompts/two': 'failed' },
    ]);
    expect(await system.metric('sluice_list_reads_total', { list: 'prompts', outcome: 'failed' })).toBe(1);

    const reads = asked.length;
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(await under(system, (rules) => rules)).toEqual([]);
    const free = (await under(system, () => [])).filter((one) => typeof one === 'object' && one.kind === 'call');
    expect(free.map((one) => (one as { would: string }).would)).toEqual(['made', 'made']);
    // Of a list that was not asked, nothing is known.
    const others = (rules: readonly AvailabilityRule[]): readonly AvailabilityRule[] =>
      rules.map((one) => ({ ...one, arguments: { prompt: { oneOf: { list: 'others' } } } }));
    expect(await under(system, others, { others: { lookup: lookupOf(host) } })).toContain(
      'Whether the list “others” had a value of the call was not recorded.',
    );
    expect(asked).toHaveLength(reads);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
