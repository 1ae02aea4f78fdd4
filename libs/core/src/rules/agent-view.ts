import { defaultAgent } from '../availability/types.js';
import type { DescriptionMode } from '../descriptions/types.js';
import type { Configuration } from '../settings/configuration.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { modelName, modelsOf } from '../settings/models.js';
import type { NamedAgent } from '../settings/named-agent.js';
import type { Budgets, ToolBudget } from '../settings/policy-types.js';
import { type AgentChoice, agentName } from './agent-name.js';
import { clientToolsIn, withClientTools } from './client-tools.js';
import { sharedGroups } from './shared-groups.js';
import { compileEvaluator, type Evaluator } from './evaluate.js';

/** The evaluators of a configuration’s agents, made when they are first asked for. */
const views = new WeakMap<Evaluator, Map<string, Evaluator>>();
/** Of which evaluator a view is one, and of which configuration. */
const bases = new WeakMap<Evaluator, Evaluator>();
const common = new WeakMap<Configuration, Configuration>();

/** The configuration itself of what evaluatorFor makes of it; any other as it is. */
export function commonConfiguration(configuration: Configuration): Configuration {
  return common.get(configuration) ?? configuration;
}

/**
 * The configuration as the runs of this agent have it. Under one that has no such agent, which may have been taken
 * out while the run went on, no tool may be called.
 */
export function evaluatorFor(given: Evaluator, choice: AgentChoice): Evaluator {
  const view = agentsView(given, choice);
  const { clientTools = null } = choice;
  return clientTools === null || choice.call !== null ? view : withTools(view, clientTools, agentName(choice));
}

/** Evaluators with the tools of clients that are kept for each agent. */
const clientsKept = 32;

/** By the text of a record, and by that of its tools alone, which many runs bring. */
const byText = new WeakMap<Evaluator, Map<string, Evaluator>>();
const byTools = new WeakMap<Evaluator, Map<string, Evaluator>>();

/** What is kept under the name, of a few that were last asked for. */
function keptIn(
  all: WeakMap<Evaluator, Map<string, Evaluator>>,
  of: Evaluator,
  name: string,
  made: () => Evaluator,
): Evaluator {
  let kept = all.get(of);
  if (kept === undefined) all.set(of, (kept = new Map()));
  const found = kept.get(name) ?? made();
  kept.delete(name);
  kept.set(name, found);
  const [oldest] = kept.keys();
  if (kept.size > clientsKept && oldest !== undefined) kept.delete(oldest);
  return found;
}

function withTools(view: Evaluator, text: string, agent: string): Evaluator {
  return keptIn(byText, view, text, () => {
    const { tools = [] } = clientToolsIn(text) ?? {};
    return keptIn(byTools, view, JSON.stringify(tools), () => {
      const { configuration } = view;
      const { agents = {} } = configuration;
      const entry = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
      const own = compileEvaluator(withClientTools(configuration, tools, entry ?? {}));
      bases.set(own, bases.get(view) ?? view);
      common.set(own.configuration, commonConfiguration(configuration));
      return own;
    });
  });
}

function agentsView(given: Evaluator, choice: AgentChoice): Evaluator {
  const base = bases.get(given) ?? given;
  const name = agentName(choice);
  const { agents = {} } = base.configuration;
  const own = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (choice.call !== null || (own === undefined && name === defaultAgent)) return base;
  // Names of strangers are not kept.
  const key = own === undefined ? '' : name;
  let kept = views.get(base);
  if (kept === undefined) views.set(base, (kept = new Map()));
  let view = kept.get(key);
  if (view === undefined) {
    const { configuration } = base;
    view = compileEvaluator(own === undefined ? withoutTools(configuration) : viewOf(configuration, name, own));
    bases.set(view, base);
    common.set(view.configuration, configuration);
    kept.set(key, view);
  }
  return view;
}

function withoutTools(configuration: Configuration): Configuration {
  return { ...configuration, policy: { ...configuration.policy, allowedTools: [] } };
}

function viewOf(configuration: Configuration, agent: string, own: NamedAgent): Configuration {
  const { policy, limits, groupFallbacks, groupTree } = configuration;
  const { memory, agentDiscovery, descriptions, ...others } = configuration;
  const of = <T>(written: T | null | undefined, common: T | undefined): T | undefined =>
    written === undefined ? common : (written ?? undefined);
  const kept = {
    memory: of(own.memory, memory),
    agentDiscovery: of(own.agentDiscovery, agentDiscovery),
    descriptions: of(own.descriptions, descriptions),
  };
  const fallbacks = own.groups === undefined ? groupFallbacks : fallbacksWithin(own.groups, groupFallbacks, groupTree);
  return {
    ...others,
    ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)),
    agent,
    ...(own.instructions === undefined ? {} : { instructions: own.instructions }),
    ...(own.strategy === undefined ? {} : { strategy: own.strategy }),
    ...(own.supervisor === undefined ? {} : { supervisor: own.supervisor }),
    ...(fallbacks === undefined ? {} : { groupFallbacks: fallbacks }),
    ...modelsInOrder(configuration, own.models),
    limits: { ...limits, ...own.limits },
    policy: own.budgets === undefined ? policy : { ...policy, budgets: lowerBudgets(policy.budgets, own.budgets) },
    tools: described(configuration.tools, own.descriptionModes),
  };
}

/** Groups that stand in for others are among the agent’s own. */
function fallbacksWithin(
  groups: readonly string[],
  fallbacks: Configuration['groupFallbacks'] = {},
  tree: Configuration['groupTree'],
): NonNullable<Configuration['groupFallbacks']> {
  return Object.fromEntries(
    Object.entries(fallbacks).map(([group, others]) => [group, sharedGroups(others, groups, tree)]),
  );
}

function modelsInOrder(
  configuration: Configuration,
  names: readonly string[] | undefined,
): Partial<Pick<Configuration, 'model' | 'fallbacks'>> {
  const all = modelsOf(configuration);
  const [model, ...fallbacks] = (names ?? []).flatMap((name) => all.find((one) => modelName(one) === name) ?? []);
  return model === undefined ? {} : { model, fallbacks };
}

function described(
  tools: readonly ConfiguredTool[],
  modes: Readonly<Record<string, DescriptionMode>> = {},
): readonly ConfiguredTool[] {
  if (Object.keys(modes).length === 0) return tools;
  return tools.map(({ descriptionMode: common, ...tool }) => {
    const mode = Object.hasOwn(modes, tool.id) ? modes[tool.id] : common;
    return { ...tool, ...(mode === 'deferred' ? { descriptionMode: mode } : {}) };
  });
}

/** The lower of both, of each number. */
function lowerBudgets(one: Budgets, other: Budgets): Budgets {
  const tokensPerRun = lower(one.tokensPerRun, other.tokensPerRun);
  const microUsdPerRun = lower(one.microUsdPerRun, other.microUsdPerRun);
  const ids = [...new Set([...Object.keys(one.tools), ...Object.keys(other.tools)])];
  return {
    ...one,
    callsPerRun: lower(one.callsPerRun, other.callsPerRun) ?? null,
    ...(tokensPerRun === undefined ? {} : { tokensPerRun }),
    ...(microUsdPerRun === undefined ? {} : { microUsdPerRun }),
    ...(one.setsAsideAll === true || other.setsAsideAll === true ? { setsAsideAll: true } : {}),
    tools: Object.fromEntries(ids.map((id) => [id, lowerToolBudget(one.tools[id], other.tools[id])])),
  };
}

function lowerToolBudget(one: ToolBudget | undefined, other: ToolBudget | undefined): ToolBudget {
  const least = (key: keyof ToolBudget): number | null => lower(one?.[key], other?.[key]) ?? null;
  return {
    timeoutMs: least('timeoutMs'),
    resultBytes: least('resultBytes'),
    callsPerRun: least('callsPerRun'),
    callsPerMinute: least('callsPerMinute'),
  };
}

/** Undefined where neither is written. */
function lower(one: number | null | undefined, other: number | null | undefined): number | undefined {
  const written = [one, other].filter((value) => typeof value === 'number');
  return written.length === 0 ? undefined : Math.min(...written);
}
