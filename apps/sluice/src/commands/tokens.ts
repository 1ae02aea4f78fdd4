import { parseArgs } from 'node:util';
import {
  approaches,
  bindTools,
  compileEvaluator,
  describedBy,
  fullTools,
  modelName,
  modelProviderEntry,
  noCalls,
  wildcard,
} from '@sluice/core';
import type { Approach, Configuration, ModelTool } from '@sluice/core';
import { createProviderCount, nativeSearches } from '@sluice/model';
import type { ProviderCount } from '@sluice/model';
import { TokenCounter, toolTokens } from '@sluice/tokens';
import type { ToolTokens } from '@sluice/tokens';
import { configurationOf } from '../system/compile-once.js';
import { columns } from '../show/columns.js';
import type { CommandContext } from './command-context.js';
import { tokensOfRuns } from './tokens-of-runs.js';

export const usage = `sluice tokens --config FILE [--group GROUP,…] [--state STATE] [--iterations N] [--model NAME] [--provider-count] [--tools] [--json]
sluice tokens --runs [--since 12h] [--limit n] [--json]
  Counts the tokens that definitions of tools take in the first request to the model: of the agent, and of each agent
  that is a tool. Rows compare ways to describe the same tools; the last columns are a job of N turns (84 where
  none is given) and, where model.price says it, what its definitions cost. OpenAI's tokenizers are exact for their models; a
  ~ marks counts for a model that has another one. --provider-count asks the provider of the model instead (Anthropic, Gemini), whose
  key has to be in the environment; it is sent the definitions. --tools lists each tool, --json prints all of it as JSON.
  With --runs: what the prompts of the runs on the log were made of, those of agents among them, and the sum of all: definitions of tools,
  results of calls and the rest, as Sluice counts them, and what the providers read and wrote. Of more than --limit (50), the newest.`;

interface Row {
  readonly agent: string;
  readonly descriptions: Approach;
  readonly tools: number;
  readonly docstring_tokens: number;
  readonly schema_overhead: number;
  readonly total: number;
  readonly saved: number;
  readonly per_job: number;
  readonly cost: number | null;
  readonly by_tool: readonly ToolTokens[];
}

/** An agent as a request makes it: its groups and the state that it begins in. */
interface Agent {
  readonly name: string;
  readonly groups: readonly string[];
  readonly state: string | null;
  readonly depth: number;
}

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string' },
      group: { type: 'string' },
      state: { type: 'string' },
      iterations: { type: 'string', default: '84' },
      model: { type: 'string' },
      'provider-count': { type: 'boolean', default: false },
      tools: { type: 'boolean', default: false },
      runs: { type: 'boolean', default: false },
      since: { type: 'string' },
      limit: { type: 'string', default: '50' },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.runs) return tokensOfRuns(values, surroundings);
  if (values.config === undefined) throw new Error(`Name the configuration with --config FILE.\n${usage}`);
  const iterations = Number(values.iterations);
  if (!Number.isInteger(iterations) || iterations < 1 || iterations > 1_000_000)
    throw new Error(`Give --iterations as a whole number from 1 to 1000000, not “${values.iterations}”.`);
  const configuration = await configurationOf(values.config, surroundings);
  const groups = values.group?.split(',').filter((name) => name !== '') ?? [wildcard];
  const agents = [
    { name: 'default', groups, state: values.state ?? null, depth: 0 },
    ...configuration.tools.flatMap(({ key, agent }) =>
      agent === undefined ? [] : [{ name: key, groups: agent.groups, state: agent.state, depth: 1 }],
    ),
  ];
  const model = values.model ?? modelName(configuration.model);
  const counter = new TokenCounter();
  const own = await counter.count([], model);
  const provider = values['provider-count'] ? await providerOf(configuration, values.model, surroundings) : null;
  const tokenizer = provider === null ? own.tokenizer : `the count of ${provider.tokenizer}`;
  const rows: Row[] = [];
  for (const agent of agents)
    rows.push(...(await rowsOf(agent, configuration, { model, iterations, counter, provider })));
  const { print, write } = surroundings;
  if (values.json) print(`${JSON.stringify({ model, tokenizer, iterations, rows })}\n`);
  else write(asText(rows, { model, tokenizer, iterations, listsTools: values.tools }));
  return 0;
}

/** Throws a sentence where no provider can be asked. */
async function providerOf(
  { model }: Configuration,
  name: string | undefined,
  { environment }: CommandContext,
): Promise<ProviderCount> {
  const settings = name === undefined ? model : { ...model, name: name.split('/').at(-1) ?? name };
  const count = await createProviderCount(settings, (variable) => environment.secret(variable));
  if (count !== null) return count;
  const { countsTokens, keyVariable } = modelProviderEntry(model.provider);
  throw new Error(
    countsTokens
      ? `The key of the model provider ${model.provider} is not in the environment. Set ${model.apiKeyEnv ?? keyVariable ?? ''}, or leave --provider-count out.`
      : `The model provider ${model.provider} has no endpoint that counts tokens. Leave --provider-count out; OpenAI’s tokenizers are here.`,
  );
}

/** How long a provider may take to count. */
const providerMs = 60_000;

/** A row’s tokens, of the descriptions and of the rest, by the provider. */
async function byProvider(
  provider: ProviderCount,
  tools: readonly ModelTool[],
): Promise<{ readonly docstring: number; readonly schema: number }> {
  const count = (some: readonly ModelTool[]) => provider.definitions(some, AbortSignal.timeout(providerMs));
  const all = await count(tools);
  // A description may not be empty everywhere.
  const schema = Math.min(all, await count(tools.map((tool) => ({ ...tool, description: '.' }))));
  return { docstring: all - schema, schema };
}

async function rowsOf(
  agent: Agent,
  configuration: Configuration,
  {
    model,
    iterations,
    counter,
    provider,
  }: {
    readonly model: string;
    readonly iterations: number;
    readonly counter: TokenCounter;
    readonly provider: ProviderCount | null;
  },
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const { definitionFor } = await nativeSearches();
  let full = 0;
  for (const approach of ['full', ...approaches.filter((one) => one !== 'full')] as const) {
    const described = describedBy(approach, configuration);
    if (described === null) continue;
    const tools = sentTools(agent, described);
    const byTool = await toolTokens(tools, model, counter, (tool) => definitionFor(configuration.model.provider, tool));
    const sum = (of: (tool: ToolTokens) => number): number => byTool.reduce((all, tool) => all + of(tool), 0);
    const { docstring, schema } =
      provider === null
        ? { docstring: sum(({ description }) => description), schema: sum((tool) => tool.schema) }
        : await byProvider(provider, tools);
    const total = docstring + schema;
    if (approach === 'full') full = total;
    const { price } = configuration.model;
    rows.push({
      agent: agent.name,
      descriptions: approach,
      tools: byTool.length,
      docstring_tokens: docstring,
      schema_overhead: schema,
      total,
      saved: full === 0 ? 0 : 1 - total / full,
      per_job: total * iterations,
      cost: price === undefined ? null : (total * iterations * price.input) / 1_000_000,
      by_tool: byTool,
    });
  }
  return rows;
}

/** What the model is sent in the first turn, by the evaluator and the function that the services use. */
function sentTools({ groups, state, depth }: Agent, configuration: Configuration): readonly ModelTool[] {
  const evaluator = compileEvaluator(configuration);
  const connections = (configuration.connections ?? []).map(({ id }) => id);
  const decision = evaluator.evaluate({ groups, state, toolIds: null, calls: noCalls, connections, depth });
  return bindTools(fullTools(decision), { evaluator, history: [], toolChoice: { type: 'auto' } }).tools;
}

function asText(
  rows: readonly Row[],
  given: {
    readonly model: string;
    readonly tokenizer: string;
    readonly iterations: number;
    readonly listsTools: boolean;
  },
): string {
  const isPriced = rows.some(({ cost }) => cost !== null);
  const head = ['agent', 'descriptions', 'tools', 'docstring', 'schema', 'total', 'saved', `${given.iterations} turns`];
  const lines = rows.map((row) => [
    ...[row.agent, row.descriptions, String(row.tools)],
    ...[row.docstring_tokens, row.schema_overhead, row.total].map((count) => count.toLocaleString('en-US')),
    `${Math.round(row.saved * 100)} %`,
    row.per_job.toLocaleString('en-US'),
    ...(isPriced ? [row.cost === null ? '' : row.cost.toFixed(2)] : []),
  ]);
  const table = columns([[...head, ...(isPriced ? ['cost'] : [])], ...lines]);
  const counted = `Tokens by ${given.tokenizer} for ${given.model}.\n`;
  if (!given.listsTools) return counted + table;
  const lists = rows.map(({ agent, descriptions, by_tool: tools }) => {
    const those = tools.map(({ id, description, schema }) => [`  ${id}`, String(description), String(schema)]);
    return `\n${agent}, ${descriptions}\n${columns([['  tool', 'docstring', 'schema'], ...those])}`;
  });
  return counted + table + lists.join('');
}
