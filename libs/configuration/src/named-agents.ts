import {
  defaultAgent,
  isJsonObject,
  modelName,
  modelsOf,
  quote,
  suggestion,
  toolEffects,
  wildcard,
} from '@sluice/core';
import { answerSchemaProblem, readAnswerSchema } from '@sluice/schemas';
import type { AgentLimits, Budgets, Configuration, Finding, JsonObject, Limits, NamedAgent } from '@sluice/core';
import type { NamedAgents } from '@sluice/core';
import { readAgentDiscovery } from './agent-discovery.js';
import { type AgentEntries, readInstructions } from './agents.js';
import type { AgentArguments } from './bounds-of-tools.js';
import { readBudgets } from './budgets.js';
import { readCallers } from './callers.js';
import { type DescribedTools, type Descriptions, readDescriptions } from './descriptions.js';
import { knownGroups } from './group-map.js';
import type { IdentifiedTool } from './identities.js';
import { configurationKeys } from './keys.js';
import { limitRanges } from './limits.js';
import { readMemory } from './memory.js';
import { describe } from './problems.js';
import type { Providers } from './pipes.js';
import type { Section } from './section.js';
import { readStrategy } from './strategy.js';
import { readSupervisor } from './supervisor.js';

/** What agents’ entries are read against. */
interface AgentWorld extends DescribedTools {
  categoryOf(tool: IdentifiedTool): string | undefined;
  /** How tools are described to every agent. */
  readonly common: Descriptions;
  readonly models: Pick<Configuration, 'model' | 'fallbacks'>;
  readonly limits: Limits;
  readonly providers: Providers;
  /** By agent: what it may call with which arguments (readAgentArguments). */
  readonly arguments: ReadonlyMap<string, AgentArguments>;
  readonly noted: Finding[];
}

/**
 * `agents`: the entries of all agents but what stands in the configuration itself, which is what `default` says for
 * everyone.
 */
export function readNamedAgents(
  { common: ofAll, named }: AgentEntries,
  world: AgentWorld,
): Pick<Configuration, 'agents'> {
  const entries = named.map(([name, section]): [string, NamedAgent] => {
    const deferred = section.has('memory') ? { memory: readMemory(section).memory ?? null } : {};
    const bounds = world.arguments.get(name);
    return [
      name,
      {
        ...readOwn(section, world),
        ...given('instructions', readInstructions(section) ?? undefined),
        ...readStrategy(section),
        ...readSupervisor(section),
        ...deferred,
        ...readDiscovery(section, world),
        ...readModes(section, world.common, world),
        ...(bounds === undefined || Object.keys(bounds).length === 0 ? {} : { arguments: bounds }),
      },
    ];
  });
  const own = readOwn(ofAll, world);
  const all: NamedAgents = Object.fromEntries([
    ...(Object.keys(own).length === 0 ? [] : [[defaultAgent, own] as const]),
    ...entries,
  ]);
  return Object.keys(all).length === 0 ? {} : { agents: all };
}

const toolsOfClients = 'a list of names of tools, where `*` stands for any characters, such as `["read_*"]`';

/** What an entry says for its own agent alone, the default one included. */
function readOwn(section: Section, world: AgentWorld): NamedAgent {
  const limits = readAgentLimits(section, world.limits);
  return {
    ...given('description', section.text('description', 'what the agent is for, in a sentence') ?? undefined),
    ...given('answerSchema', readSchema(section, world.models)),
    ...given('groups', readGroups(section, world)),
    ...given('mayAsk', readCallers(section, 'may_ask')),
    ...given('mayCancel', readCallers(section, 'may_cancel')),
    ...given('models', readModelNames(section, world.models)),
    ...given('clientTools', section.names('client_tools', toolsOfClients) ?? undefined),
    ...readClientEffects(section),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(section.has('budgets') ? { budgets: readAgentBudgets(section.section('budgets'), world.tools) } : {}),
  };
}

/** A JSON Schema, which the model of rules cannot answer by. */
function readSchema(section: Section, all: AgentWorld['models']): JsonObject | undefined {
  const value = section.value('answer_schema');
  if (value === null) return undefined;
  const path = section.at('answer_schema');
  const text = isJsonObject(value) ? JSON.stringify(value) : null;
  if (text === null) {
    section.problem(path, describe(value), 'a JSON Schema, as a map');
    return undefined;
  }
  const problem = answerSchemaProblem(text, 'the schema');
  if (problem !== null) section.problem(path, problem, 'a JSON Schema that answers can be checked by');
  const names = readModelNames(section, all) ?? modelsOf(all).map(modelName);
  const rules = modelsOf(all).find((one) => one.provider === 'rules' && names.includes(modelName(one)));
  if (rules !== undefined)
    section.problem(path, 'a schema for answers of the built-in model `rules`', 'another model for the agent');
  return problem === null ? readAnswerSchema(text) : undefined;
}

/** What clients’ tools can change, by their names or patterns. */
function readClientEffects(section: Section): Pick<NamedAgent, 'clientEffects'> {
  const effects = section.section('client_effects');
  const known = effects.keys().flatMap((name) => {
    const effect = effects.choice(name, toolEffects);
    return effect === null ? [] : [[name, effect] as const];
  });
  return known.length === 0 ? {} : { clientEffects: Object.fromEntries(known) };
}

function readGroups(section: Section, world: AgentWorld): readonly string[] | undefined {
  const names = section.names('groups', 'a list of groups, such as `["support"]`');
  const known = [...knownGroups(world.groups), wildcard];
  names?.forEach((name, place) => {
    if (!known.includes(name)) section.unknown(section.itemAt('groups', place), 'group', name, suggestion(name, known));
  });
  return names ?? undefined;
}

/** A model, which is asked first, or a list of those that are asked. */
function readModelNames(section: Section, models: AgentWorld['models']): readonly string[] | undefined {
  const value = section.value('model');
  if (value === null) return undefined;
  const known = modelsOf(models).map(modelName);
  const isList = Array.isArray(value);
  const write = 'a model of the list `model`, as `provider/name`, or a list of them';
  const names = isList ? section.names('model', write) : [section.text('model', write) ?? ''];
  if (names?.length === 0) section.problem(section.at('model'), 'an empty list', write);
  names?.forEach((name, place) => {
    const path = isList ? section.itemAt('model', place) : section.at('model');
    if (name !== '' && !known.includes(name))
      section.problem(path, `the model ${quote(name)}, which is not in the list \`model\``, suggestion(name, known));
  });
  if (isList || names === null) return names ?? undefined;
  return [...names, ...known.filter((name) => !names.includes(name))];
}

const limitKeys = {
  max_iterations: { key: 'maxIterations', unit: 1 },
  run_seconds: { key: 'runMs', unit: 1_000 },
  model_seconds: { key: 'modelMs', unit: 1_000 },
  calls_per_turn: { key: 'callsPerTurn', unit: 1 },
  parked_seconds: { key: 'parkedMs', unit: 1_000 },
} as const satisfies Partial<Record<keyof typeof limitRanges, { key: keyof AgentLimits; unit: number }>>;

/** `limits`, and `parked_seconds` beside it: not above those of every run. */
function readAgentLimits(agent: Section, limits: Limits): AgentLimits {
  const section = agent.section('limits').closed(configurationKeys['agents.default.limits']);
  const read = (from: Section, name: keyof typeof limitKeys): [string, number][] => {
    if (!from.has(name)) return [];
    const { key, unit } = limitKeys[name];
    const value = from.wholeNumber(name, limitRanges[name]) * unit;
    const most = limits[key] ?? limitRanges[name].byDefault * unit;
    if (value > most)
      from.problem(
        from.at(name),
        `${describe(from.value(name))}, which is above limits.${name}`,
        `at most ${String(most / unit)}, or more under \`limits\``,
      );
    return [[key, value]];
  };
  const names = ['max_iterations', 'run_seconds', 'model_seconds', 'calls_per_turn'] as const;
  return Object.fromEntries([...names.flatMap((name) => read(section, name)), ...read(agent, 'parked_seconds')]);
}

function readAgentBudgets(section: Section, tools: readonly IdentifiedTool[]): Budgets {
  const { callsPerRun, ...budgets } = readBudgets(section, tools, configurationKeys['agents.default.budgets']);
  return { ...budgets, callsPerRun: section.has('calls_per_run') ? callsPerRun : null };
}

function readDiscovery(section: Section, world: AgentWorld): Pick<NamedAgent, 'agentDiscovery'> {
  if (section.value('tool_discovery') === 'none') return { agentDiscovery: null };
  return readAgentDiscovery(section, world.tools, world.providers, world.noted);
}

const descriptionKeys = [
  ...(['description_mode', 'packs', 'always_full', 'deferred_schema', 'deferred_above'] as const),
  ...(['deferred_groups', 'read_before_use'] as const),
];

/** All keys about descriptions together, or none: then tools are described as to every agent. */
function readModes(
  section: Section,
  common: Descriptions,
  world: AgentWorld,
): Pick<NamedAgent, 'descriptions' | 'descriptionModes'> {
  if (descriptionKeys.every((key) => !section.has(key))) return {};
  const own = readDescriptions(section, world);
  const modes = world.tools.flatMap((tool) => {
    const category = world.categoryOf(tool);
    const mode = own.modeOf(tool, category);
    return mode === common.modeOf(tool, category) ? [] : [[tool.id, mode] as const];
  });
  return {
    descriptions: own.settings.descriptions ?? null,
    ...(modes.length === 0 ? {} : { descriptionModes: Object.fromEntries(modes) }),
  };
}

function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}
