import {
  approvable,
  compileRules,
  isListed,
  quote,
  runsWithoutApproval,
  sentenceList,
  undefinedState,
  wildcard,
  withGroupsBelow,
} from '@sluice/core';
import type { Configuration, ConfiguredTool, Finding, GroupTree, IdentitySettings, Policy } from '@sluice/core';
import { findToolless } from './agent-tools.js';
import { findAboutApprovers } from './approver-findings.js';
import { findNearMisses } from './near-misses.js';
import { stateGraph } from './state-graph.js';
import type { Allowed } from './specifications.js';

const readOnlyTag = /^read[-_ ]?only$/i;

/** Places of a schema that are named. */
const shownPlaces = 5;

/** Where a finding stands that is about states rather than about one tool. */
const allTools = 'tool';

/** Tools that every provider takes in one request. */
const mostTools = 128;

/**
 * What is known of tools beside what they are, by key: where they stand in the file, and how their schema differs
 * from their server's.
 */
interface AboutTools {
  readonly paths: ReadonlyMap<string, string>;
  readonly allowed: ReadonlyMap<string, Pick<Allowed, 'simplified' | 'narrowed' | 'nulls' | 'texts'>>;
  readonly tree: GroupTree;
  readonly fallbacks: Configuration['groupFallbacks'];
  readonly identity: IdentitySettings;
}

/** What an author will want to know of a configuration that is legal (XG-22). */
export function findEverything(
  tools: readonly ConfiguredTool[],
  policy: Policy,
  { paths, allowed, tree, fallbacks, identity }: AboutTools,
): readonly Finding[] {
  const at = (tool: ConfiguredTool): string => paths.get(tool.key) ?? allTools;
  return [
    ...aboutStates(tools, at),
    ...tools.flatMap((tool) => aboutTool(tool, at(tool))),
    ...tools.flatMap((tool) => aboutSchema(tool, allowed.get(tool.key), at(tool))),
    ...aboutCount(tools, policy, tree),
    ...findNearMisses(tools, tree, at),
    ...aboutPolicy(tools, policy, identity),
    ...findToolless(tools, { policy, tree, fallbacks }, at),
  ];
}

function aboutStates(tools: readonly ConfiguredTool[], at: (tool: ConfiguredTool) => string): readonly Finding[] {
  const rules = compileRules(tools);
  const graph = stateGraph(tools, rules.knownStates);
  const available = rules.availabilityByState();
  const findings: Finding[] = graph.cycles.map(({ states, tools: keys }) => ({
    kind: 'cycle',
    path: allTools,
    message: `The states ${sentenceList(states)} form a cycle through ${sentenceList(keys)}; limits.max_iterations ends a run that stays in it.`,
  }));
  const named = new Set(tools.flatMap((tool) => tool.states));
  for (const state of rules.knownStates) {
    const leading = graph.leadingTo.get(state) ?? [];
    if (leading.length > 0 && available.get(state) === 0) {
      const message = `No tool is available in the state ${quote(state)}, which ${sentenceList(leading)} ${leading.length === 1 ? 'leads' : 'lead'} to.`;
      findings.push({ kind: 'dead_end', path: allTools, message });
    }
    if (leading.length === 0 && named.has(state) && state !== undefinedState) {
      const message = `No tool leads to the state ${quote(state)}; a request may still start in it.`;
      findings.push({ kind: 'unreachable_state', path: allTools, message });
    }
  }
  for (const tool of tools) {
    const anywhere = tool.states.some((state) => state === wildcard || graph.reachable.has(state));
    if (anywhere || tool.states.length === 0) continue;
    const message = `${tool.key} is available in ${sentenceList(tool.states)} only, where no run that starts in ${undefinedState} arrives.`;
    findings.push({ kind: 'unreachable_tool', path: at(tool), message });
  }
  return findings;
}

function aboutTool(tool: ConfiguredTool, path: string): readonly Finding[] {
  const findings: Finding[] = [];
  if (tool.states.length === 0) {
    const message = `${tool.key} has an empty list of states, so it is available in none.`;
    findings.push({ kind: 'never_available', path: `${path}.available_in_states`, message });
  }
  if (tool.groups.length === 0) {
    const message = `${tool.key} is in no group, so only a request for \`*\` reaches it.`;
    findings.push({ kind: 'unreachable_tool', path: `${path}.group`, message });
  }
  const gentle = tool.groups.find((group) => readOnlyTag.test(group));
  if (gentle !== undefined && tool.spec !== null && tool.spec.effect !== 'read_only') {
    const message = `${tool.key} is tagged ${quote(gentle)} but can change things (${tool.spec.effect}): every caller with ${gentle} gets it.`;
    findings.push({ kind: 'escalation', path: `${path}.group`, message });
  }
  if (tool.unavailable !== null) {
    findings.push({ kind: 'unavailable', path, message: `${tool.key} is not offered: ${tool.unavailable}` });
  }
  return findings;
}

function aboutSchema(
  { key }: ConfiguredTool,
  allowed: Pick<Allowed, 'simplified' | 'narrowed' | 'nulls' | 'texts'> | undefined,
  path: string,
): readonly Finding[] {
  const { simplified = [], narrowed = [], nulls = [], texts = [] } = allowed ?? {};
  const findings: Finding[] = [];
  if (simplified.length > 0) {
    const where = sentenceList(simplified, shownPlaces);
    const message = `The input schema of ${key} was simplified at ${where}: it allows nothing that its server does not${nulls.length === 0 ? '' : ', and does not show “or null”, which is passed on all the same'}.`;
    findings.push({ kind: 'simplified', path, message });
  }
  if (narrowed.length > 0) {
    const message = `The input schema of ${key} is narrower than its server’s: ${sentenceList(narrowed, shownPlaces)}.`;
    findings.push({ kind: 'narrowed', path, message });
  }
  for (const text of texts.slice(0, shownPlaces))
    findings.push({ kind: 'suspect_text', path, message: `A text of the server of ${key} is suspect. ${text}` });
  return findings;
}

/** The group with the most tools in one state, if they are more than some providers take. */
function aboutCount(tools: readonly ConfiguredTool[], policy: Policy, tree: GroupTree): readonly Finding[] {
  const allowed = new Set(policy.allowedTools);
  const offered = tools.filter((tool) => allowed.has(tool.id) && tool.spec !== null && isListed(tool, policy));
  if (offered.length <= mostTools) return [];
  const groups = [wildcard, ...new Set([...offered.flatMap((tool) => tool.groups), ...Object.keys(tree)])];
  const many = groups.flatMap((group) => {
    const covered = withGroupsBelow(group, tree);
    const isCovered = (tool: ConfiguredTool): boolean => tool.groups.some((one) => covered.includes(one));
    const count = mostAtOnce(group === wildcard ? offered : offered.filter(isCovered));
    return count > mostTools ? [`${String(count)} tools of the group ${quote(group)}`] : [];
  });
  if (many.length === 0) return [];
  const message = `A turn can be offered ${sentenceList(many, shownPlaces)}, and some providers take no more than ${String(mostTools)} in one request: split the group, or allow fewer tools.`;
  return [{ kind: 'many_tools', path: allTools, message }];
}

function mostAtOnce(tools: readonly ConfiguredTool[]): number {
  return Math.max(0, ...compileRules(tools).availabilityByState().values());
}

function aboutPolicy(tools: readonly ConfiguredTool[], policy: Policy, identity: IdentitySettings): readonly Finding[] {
  const findings: Finding[] = [];
  const allowed = new Set(policy.allowedTools);
  const denied = tools.filter((tool) => !allowed.has(tool.id)).map((tool) => tool.key);
  if (denied.length > 0) {
    const message = `The policy does not allow ${sentenceList(denied)}, so ${neverOffered(denied)}.`;
    findings.push({ kind: 'not_allowed', path: 'policy.allowed_tools', message });
  }
  const waiting = tools
    .filter((tool) => allowed.has(tool.id) && !approvable(tool, policy, identity.provider))
    .map((tool) => tool.key);
  const unlisted = tools.filter((tool) => allowed.has(tool.id) && !isListed(tool, policy)).map((tool) => tool.key);
  if (unlisted.length > 0) {
    const message = `The policy lists ${sentenceList(unlisted)} under allowed_tools and not under allowed_agents, so ${neverOffered(unlisted)}.`;
    findings.push({ kind: 'not_allowed', path: 'policy.allowed_agents', message });
  }
  if (waiting.length > 0) {
    const message = `There is no approver for calls of ${sentenceList(waiting)}, which need it, so ${neverOffered(waiting)}.`;
    findings.push({ kind: 'not_allowed', path: 'policy.approval.approvers', message });
  }
  return [...findings, ...findAboutApprovers(policy, identity), ...findWithoutApproval(tools, policy)];
}

/** The allowed tools that change things and run without an approval, where the file does not say that this is meant. */
export function findWithoutApproval(tools: readonly ConfiguredTool[], policy: Policy): readonly Finding[] {
  const allowed = new Set(policy.allowedTools);
  const unasked = tools.filter(
    (tool) => allowed.has(tool.id) && isListed(tool, policy) && runsWithoutApproval(tool, policy),
  );
  if (unasked.length === 0) return [];
  const keys = unasked.map((tool) => tool.key);
  const what = `${sentenceList(keys)} can change things and ${keys.length === 1 ? 'runs' : 'run'} without an approval`;
  // With approvers and no effect, the file says `effects: []`.
  const hasApprovers = policy.approvers.length > 0;
  const cause = hasApprovers ? ', since policy.approval.effects names none' : '';
  const remedy = hasApprovers
    ? 'name the effects there, or leave `effects` out'
    : 'name approvers under policy.approval';
  const message = `${what}${cause}: ${remedy}, or write \`approval: { none: "<why>" }\` under policy.`;
  return [{ kind: 'unasked', path: hasApprovers ? 'policy.approval.effects' : 'policy.approval', message }];
}

function neverOffered(keys: readonly string[]): string {
  return `${keys.length === 1 ? 'it is' : 'they are'} never offered`;
}
