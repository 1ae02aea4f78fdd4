import { defaultAgent } from '../availability/types.js';
import { type AgentChoice, agentName, hasAgent } from '../rules/agent-name.js';
import { wildcard } from '../rules/defaults.js';
import { type GroupTree, isWithin, noGroupTree } from '../rules/group-tree.js';
import { quote, sentenceList } from '../quote.js';
import type { Callers, NamedAgents } from '../settings/named-agent.js';
import type { Principal } from './principal.js';

interface Agents {
  readonly agents?: NamedAgents | undefined;
  readonly groupTree?: GroupTree | undefined;
}

/** Agents that are named in one sentence, at most, and the longest name that is repeated. */
const agentsShown = 10;
const longestName = 64;

/** Whether the caller is among these. */
export function isAmong(
  { principals, tenants, groups }: Callers,
  { actorId, tenantId, groups: permitted }: Principal,
  tree: GroupTree = noGroupTree,
): boolean {
  if (principals !== undefined && !principals.includes(actorId)) return false;
  if (tenants !== undefined && !tenants.includes(tenantId)) return false;
  return (
    groups === undefined || permitted.includes(wildcard) || groups.some((group) => isWithin(group, permitted, tree))
  );
}

/** Whether there is this agent, and the caller may ask it. */
function mayAsk(name: string, caller: Principal, { agents = {}, groupTree }: Agents): boolean {
  if (!hasAgent(agents, name)) return false;
  const callers = Object.hasOwn(agents, name) ? agents[name]?.mayAsk : undefined;
  return callers === undefined || isAmong(callers, caller, groupTree);
}

/** Whether the entry of the agent that the request asks names the caller (`may_cancel`). */
export function mayCancelRunsOf(request: AgentChoice, caller: Principal, { agents = {}, groupTree }: Agents): boolean {
  const name = agentName(request);
  const callers = request.call === null && Object.hasOwn(agents, name) ? agents[name]?.mayCancel : undefined;
  return callers !== undefined && isAmong(callers, caller, groupTree);
}

/** The agents that the caller may ask, the default one first, by name. */
export function agentsFor(caller: Principal, configuration: Agents): readonly string[] {
  const names = Object.keys(configuration.agents ?? {}).filter((name) => name !== defaultAgent);
  return [defaultAgent, ...names.sort()].filter((name) => mayAsk(name, caller, configuration));
}

/**
 * Why the caller cannot ask this agent, as a sentence; null if it can. Of one that there is not it says the same as of
 * one that the caller may not ask.
 */
export function agentRefused(
  request: { readonly agent: string | null },
  caller: Principal,
  configuration: Agents,
): string | null {
  const name = agentName(request);
  if (mayAsk(name, caller, configuration)) return null;
  const shown = name.length > longestName ? `${name.slice(0, longestName)}…` : name;
  const names = agentsFor(caller, configuration);
  const there = names.length === 0 ? 'There is none.' : `You may ask ${sentenceList(names.map(quote), agentsShown)}.`;
  return `The agent ${quote(shown)} is not one that you may ask. ${there}`;
}
