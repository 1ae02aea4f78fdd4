import { type Availability, compileAvailability } from '../availability/availability.js';
import { authorizerClaims } from '../availability/measures.js';
import type { RuleFacts } from '../availability/types.js';
import { type ArgumentRules, compileArgumentRules } from '../bounds/argument-rules.js';
import { compilePast, type PastRules } from '../past/reservation.js';
import type { Configuration } from '../settings/configuration.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { WeakMemory } from '../weak-memory.js';
import { budgetUsed, runBudgetUsed } from './budget-used.js';
import { type CallCounts } from './call-counts.js';
import { type HiddenReason, hiddenReasons } from './hidden-reasons.js';
import { type RuleDecision, type Rules, compileRules } from './rules.js';
import { type ToolPolicy, compilePolicy, mayCallAgents } from './tool-policy.js';

interface HiddenTool {
  readonly key: string;
  readonly reasons: readonly HiddenReason[];
}

/** Everything a decision depends on beside the configuration; recorded with it, so that it can be made again. */
export interface Facts {
  /** As in the record: null means absent. */
  readonly groups: readonly string[] | null;
  readonly state: string | null;
  /** Ids of the tools that the run may use, of all it would be offered; null means all of these, an empty list none. */
  readonly toolIds: readonly string[] | null;
  /** How often each tool ran in this run so far, by id. */
  readonly calls: CallCounts;
  /** Ids of the connections that the request may use (allowedConnections). */
  readonly connections: readonly string[];
  /** How many calls of agents the run is within: it may call an agent as long as the policy lets it. Absent for 0. */
  readonly depth?: number;
  /** True in a run that works by a plan: only such a one is offered what takes plans. Absent for false. */
  readonly planned?: boolean;
  /**
   * What the rules of the configuration are judged by. Absent where nothing of a run is known: then they close
   * nothing.
   */
  readonly rules?: RuleFacts;
}

/**
 * The tools of a configuration by their fate. All lists are in its order; they are shared by decisions and must not
 * be changed.
 */
interface Lists {
  /** Keys of the eligible tools that the policy allows as well. */
  readonly permitted: readonly string[];
  /**
   * The permitted tools that the run asked for and that can run, have calls left and a connection that may be used:
   * exactly what the model is shown and the executor admits.
   */
  readonly offered: readonly ConfiguredTool[];
  /** Each tool that is not offered, once. */
  readonly hidden: readonly HiddenTool[];
}

/** One decision with its reasons. */
export interface Decision extends RuleDecision, Lists {
  readonly configVersion: string;
  /** Conditions of rules that do not hold, as bits for `Evaluator.availability`. */
  readonly closed: number;
}

/** A configuration made ready for decisions. */
export interface Evaluator {
  readonly configuration: Configuration;
  readonly rules: Rules;
  readonly policy: ToolPolicy;
  readonly availability: Availability;
  readonly argumentRules: ArgumentRules;
  readonly past: PastRules;
  evaluate(facts: Facts): Decision;
  /** The tool with this id, else the one with this key. */
  tool(idOrKey: string): ConfiguredTool | undefined;
  byId(id: string): ConfiguredTool | undefined;
}

/** Different sets of closed rules whose lists are kept side by side. */
const closedKept = 16;

/**
 * Tools in all the lists of an evaluator that are kept for the next decision of the same groups and state, at most;
 * each takes about 50 bytes.
 */
const toolsKept = 262_144;

/** A bit for each reason, by its place in the list. */
const bit = Object.fromEntries(hiddenReasons.map((reason, place) => [reason, 1 << place])) as Record<
  HiddenReason,
  number
>;

/** One list for each set of reasons that occurs, shared by all decisions: of all possible sets there are thousands. */
const reasonLists = new Map<number, readonly HiddenReason[]>();

function reasonsIn(bits: number): readonly HiddenReason[] {
  let list = reasonLists.get(bits);
  if (list === undefined) {
    list = Object.freeze(hiddenReasons.filter((reason) => (bits & bit[reason]) !== 0));
    reasonLists.set(bits, list);
  }
  return list;
}

/**
 * The one evaluator: what is listed and explained is one evaluation, and a call is admitted by the same rules, policy
 * and budgets, asked about its one tool.
 */
export function compileEvaluator(configuration: Configuration): Evaluator {
  const { tools } = configuration;
  const { budgets } = configuration.policy;
  const rules = compileRules(tools, configuration.groupTree);
  const policy = compilePolicy(configuration.policy, configuration.identity);
  const argumentRules = compileArgumentRules(configuration);
  const past = compilePast(configuration);
  const availability = compileAvailability(
    configuration,
    argumentRules.hasBounds || past.hasTotals || authorizerClaims(configuration).length > 0,
  );
  const lasting = tools.map(
    (tool) => (policy.decide(tool) === 'deny' ? bit.policy : 0) | (tool.spec === null ? bit.unavailable : 0),
  );
  // Tools whose ids meet are all unavailable, so it does not matter which of them is found.
  const ids = new Map(tools.map((tool) => [tool.id, tool]));
  const keys = new Map(tools.map((tool) => [tool.key, tool]));

  const hasOwnBudgets = Object.keys(budgets.tools).length > 0;
  /** By the rules that are closed: there are few such sets at a time. */
  const ordinary = new Map<number, WeakMemory<RuleDecision['eligible'], Lists>>();

  function evaluate(facts: Facts): Decision {
    const rule = rules.decide(facts.groups, facts.state);
    const { version: configVersion } = configuration;
    const closed = facts.rules === undefined ? 0 : availability.closed(facts.rules, facts.calls, rule.state);
    return Object.freeze({ ...rule, configVersion, closed, ...listsOf(rule, facts, closed) });
  }

  /** Most facts say nothing but groups and state, and the rules give the same lists for the same ones. */
  function listsOf(rule: RuleDecision, facts: Facts, closed: number): Lists {
    if (!isOrdinary(facts)) return judged(rule, facts, closed);
    let memory = ordinary.get(closed);
    if (memory === undefined) {
      if (ordinary.size >= closedKept) ordinary.clear();
      ordinary.set(closed, (memory = new WeakMemory(toolsKept / closedKept)));
    }
    return memory.find(rule.eligible) ?? memory.keep(rule.eligible, judged(rule, facts, closed), tools.length);
  }

  function isOrdinary({ toolIds, calls, connections, depth = 0, planned }: Facts): boolean {
    if (toolIds !== null || connections.length > 0 || depth > 0 || planned === true) return false;
    return Object.keys(calls).length === 0 || (!hasOwnBudgets && !runBudgetUsed(calls, budgets));
  }

  function judged(rule: RuleDecision, facts: Facts, closed: number): Lists {
    const permitted: string[] = [];
    const offered: ConfiguredTool[] = [];
    const hidden: HiddenTool[] = [];
    const askedFor = facts.toolIds === null ? null : new Set(facts.toolIds);
    const isDeep = !mayCallAgents(facts.depth ?? 0, configuration.policy);
    let outside = 0;
    tools.forEach((tool, place) => {
      let bits = lasting[place] as number;
      // The list is in configuration order, so the next of its keys is the next tool without a group in common.
      if (rule.filteredByGroup[outside] === tool.key) {
        bits |= bit.group;
        outside++;
      }
      if (!rules.passesState(place, rule.state)) bits |= bit.state;
      if ((bits & (bit.group | bit.state | bit.policy)) === 0) permitted.push(tool.key);
      // Resources and prompts of MCP servers are for who names them, so that no model is shown them.
      if (askedFor === null ? tool.mcp?.kind !== undefined : !askedFor.has(tool.id)) bits |= bit.tool_ids;
      if (budgetUsed(tool.id, facts.calls, budgets) !== null) bits |= bit.budget;
      if (tool.connection !== undefined && !facts.connections.includes(tool.connection)) bits |= bit.connection;
      if (tool.agent !== undefined && isDeep) bits |= bit.depth;
      if (tool.plan !== undefined && facts.planned !== true) bits |= bit.strategy;
      const closing = closed & availability.ofTool(place);
      if (closing !== 0) for (const kind of availability.kindsOf(closing)) bits |= bit[kind];
      if (bits === 0) offered.push(tool);
      else hidden.push({ key: tool.key, reasons: reasonsIn(bits) });
    });
    return {
      permitted: Object.freeze(permitted),
      offered: Object.freeze(offered),
      hidden: Object.freeze(hidden),
    };
  }

  return {
    configuration,
    rules,
    policy,
    availability,
    argumentRules,
    past,
    evaluate,
    tool: (idOrKey) => ids.get(idOrKey) ?? keys.get(idOrKey),
    byId: (id) => ids.get(id),
  };
}
