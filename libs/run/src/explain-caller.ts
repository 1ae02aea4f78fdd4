import {
  agentName,
  agentRefused,
  allowedConnections,
  chooseTools,
  compileEvaluator,
  evaluatorFor,
  groupsForAgent,
  hasAgent,
  localPrincipal,
  measuresOf,
  noCalls,
  notPermitted,
  refusedGroupsSentence,
  requestWarnings,
  toolVerdicts,
  wildcard,
  withoutFacts,
} from '@sluice/core';
import type {
  CallCounts,
  Configuration,
  Evaluator,
  Facts,
  PastCalls,
  Principal,
  RequestWarning,
  RuleFacts,
  Unknown,
} from '@sluice/core';
import { fallbacksFor, withFallbacks } from './decide-tools.js';
import { usesOf } from './span-use.js';
import type { SpanUse } from './span-use.js';

/** A caller and its request, as far as they are known; null is what is not. */
export interface ExplainedCaller {
  readonly groups: readonly string[] | null;
  readonly state: string | null;
  readonly toolIds: readonly string[] | null;
  readonly toolChoice: string | null;
  readonly connections: readonly string[] | null;
  readonly question: string | null;
  /** The agent that the request asks; null for the default one. */
  readonly agent: string | null;
  readonly tenant: string | null;
  /** As in a principal: `user:ann`. */
  readonly actor: string | null;
  /** On whose behalf it asks; null for no one’s. */
  readonly subject: string | null;
  readonly channel: string | null;
  readonly claims: Readonly<Record<string, readonly string[]>> | null;
  /** The groups that the caller may ask for. */
  readonly permittedGroups: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** By the tool's id or key: calls that the run made. */
  readonly calls: CallCounts;
  /** Ids or keys of tools that succeeded in the run, and of those whose approval stands. */
  readonly succeeded: readonly string[];
  readonly approved: readonly string[];
  /** How many calls of agents the run is within, and whether it works by a plan. */
  readonly depth: number;
  readonly planned: boolean;
  /** By the name of a measure. */
  readonly loads: Readonly<Record<string, number>>;
}

type ToolVerdicts = ReturnType<typeof toolVerdicts>;

type ExplainedTool = ToolVerdicts[number] & {
  /** What rules with a span count of its calls; absent where none does. */
  readonly counted?: readonly SpanUse[];
};

/** Every tool's verdict for a caller, on the wire. */
interface ExplainedTools {
  readonly config_version: string;
  readonly state: string;
  readonly group: readonly string[];
  readonly fallback_groups: readonly string[];
  /** Whether the caller may ask for these groups; where it may not, the request would be refused as a whole. */
  readonly permitted: boolean;
  readonly refused_groups: readonly string[];
  /** Why the request would be refused; null where it would not. */
  readonly refusal: string | null;
  readonly tool_choice: string | null;
  readonly tools: readonly ExplainedTool[];
  readonly warnings: readonly RequestWarning[];
}

/**
 * What a request of this caller would be offered and why not the rest, by the evaluator of the filter. A rule that
 * asks for something unknown closes nothing, and its tools say what they depend on.
 */
export async function explainCaller(
  configuration: Configuration,
  given: ExplainedCaller,
  past: Pick<PastCalls, 'read'>,
): Promise<ExplainedTools> {
  // One of its own: what services remember of decisions stays theirs.
  const whole = evaluatorFor(compileEvaluator(configuration), { agent: given.agent, call: null });
  const idOf = (name: string): string => whole.tool(name)?.id ?? name;
  const { groupTree } = configuration;
  const unknown = unknownTo(given, configuration);
  const principal = principalOf(given);
  const ruleFacts = rulesFor(given, principal, idOf);
  const groups = groupsForAgent(given.groups, groupsOf(given, configuration), given.permittedGroups, groupTree);
  const facts: Facts = {
    ...{ groups, state: given.state },
    toolIds: given.toolIds?.map(idOf) ?? null,
    calls: counted(given.calls, idOf),
    connections: allowedConnections(openTo(given, configuration), principal, given.connections),
    ...{ depth: given.depth, planned: given.planned },
    rules: ruleFacts,
  };
  const evaluator = withoutFacts(whole, unknown);
  const fallbackGroups = fallbacksFor(facts, evaluator.evaluate(facts), evaluator, given.permittedGroups);
  const decision = evaluator.evaluate(fallbackGroups.length === 0 ? facts : withFallbacks(facts, fallbackGroups));
  const requested = whole.rules.decide(given.groups ?? groups, given.state).groups;
  const refusedGroups = notPermitted(requested, given.permittedGroups, groupTree);
  const chosen = chooseTools(given.toolChoice, 1, decision.offered);
  const denied =
    refusedGroups.length === 0 ? null : refusedGroupsSentence(refusedGroups, given.permittedGroups, groupTree);
  return {
    ...{
      config_version: configuration.version,
      state: decision.state,
      group: whole.rules.decide(groups, given.state).groups,
    },
    fallback_groups: fallbackGroups,
    ...{ permitted: refusedGroups.length === 0, refused_groups: refusedGroups },
    refusal: denied ?? noSuchAgent(given, principal, configuration) ?? (chosen.ok ? null : chosen.message),
    tool_choice: chosen.ok ? chosen.choice : null,
    tools: await withSpans(
      toolVerdicts(whole, decision, unknown),
      whole,
      { given, state: decision.state, ruleFacts },
      past,
    ),
    warnings: requestWarnings(whole, [wildcard], { group: given.groups, state: given.state }),
  };
}

/** The groups of the agent’s own. */
function groupsOf({ agent }: Pick<ExplainedCaller, 'agent'>, { agents = {} }: Pick<Configuration, 'agents'>) {
  const name = agentName({ agent });
  return Object.hasOwn(agents, name) ? agents[name]?.groups : undefined;
}

/** Why it could not ask the agent; null where it could, or where it is not known who asks. */
function noSuchAgent(
  { agent, tenant, actor }: ExplainedCaller,
  principal: Principal,
  configuration: Configuration,
): string | null {
  const isKnown = tenant !== null && actor !== null;
  return isKnown || !hasAgent(configuration.agents, agentName({ agent }))
    ? agentRefused({ agent }, principal, configuration)
    : null;
}

/** With what rules with a span count of each tool’s calls, and how much of it this caller used. */
async function withSpans(
  verdicts: ToolVerdicts,
  evaluator: Evaluator,
  about: { readonly given: ExplainedCaller; readonly state: string; readonly ruleFacts: RuleFacts },
  past: Pick<PastCalls, 'read'>,
): Promise<readonly ExplainedTool[]> {
  const { given, state, ruleFacts } = about;
  const { tenant: tenantId, actor, agent, at } = ruleFacts;
  const caller = { tenantId, userId: given.subject ?? actor, agent, sessionId: '', requestId: '' };
  const of = verdicts.map(({ id }) => evaluator.past.spans({ toolId: id, caller, state }, ruleFacts));
  const known = { run: false, session: false, user: given.actor !== null, tenant: true, agent: given.depth === 0 };
  const used = await usesOf(of.flat(), at, past, ({ per }) => given.tenant !== null && known[per]);
  let next = 0;
  return verdicts.map((verdict, place) => {
    const count = of[place]?.length ?? 0;
    return count === 0 ? verdict : { ...verdict, counted: used.slice(next, (next += count)) };
  });
}

function unknownTo(
  { tenant, actor, claims, channel, question, loads }: ExplainedCaller,
  { rules = [] }: Pick<Configuration, 'rules'>,
): Unknown {
  const isMeasured = [...measuresOf(rules).keys()].every((name) => Object.hasOwn(loads, name));
  return [
    ...(tenant === null ? ['tenant' as const] : []),
    ...(actor === null ? ['actor' as const] : []),
    ...(channel === null ? ['channel' as const] : []),
    ...(claims === null ? ['claims' as const] : []),
    ...(question === null ? ['question' as const] : []),
    ...(isMeasured ? [] : ['load' as const]),
  ];
}

function principalOf({ tenant, actor, permittedGroups }: ExplainedCaller): Principal {
  const { tenantId, actorId } = localPrincipal;
  return { ...localPrincipal, tenantId: tenant ?? tenantId, actorId: actor ?? actorId, groups: permittedGroups };
}

/** Where the tenant is not known, a connection counts as open to it. */
function openTo({ tenant }: Pick<ExplainedCaller, 'tenant'>, { connections }: Pick<Configuration, 'connections'>) {
  return tenant === null ? connections?.map((one) => ({ ...one, tenants: [wildcard] })) : connections;
}

function rulesFor(given: ExplainedCaller, { tenantId, actorId }: Principal, idOf: (name: string) => string): RuleFacts {
  return {
    ...{ at: given.at, tenant: tenantId, actor: actorId, channel: given.channel ?? '' },
    agent: given.depth > 0 ? '' : agentName(given),
    ...{ facts: {}, claims: given.claims ?? {}, question: given.question ?? '', loads: given.loads, held: [] },
    succeeded: Object.fromEntries(given.succeeded.map((name) => [idOf(name), 1])),
    approved: Object.fromEntries(given.approved.map((name) => [idOf(name), given.at])),
    spent: { tokens: 0, microUsd: 0 },
  };
}

function counted(calls: CallCounts, idOf: (name: string) => string): CallCounts {
  const entries = Object.entries(calls);
  return entries.length === 0 ? noCalls : Object.fromEntries(entries.map(([name, count]) => [idOf(name), count]));
}
