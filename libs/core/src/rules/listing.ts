import type { RuleFacts } from '../availability/types.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { ToolEffect } from '../tool/types.js';
import { noCalls } from './call-counts.js';
import { undefinedState, wildcard } from './defaults.js';
import type { Evaluator } from './evaluate.js';
import { type GroupTree, isWithin, noGroupTree, withGroupsBelow } from './group-tree.js';
import { type RuleFactName, type Unknown, dependsOn, withoutFacts } from './partly-known.js';

/** A tool in a listing. */
export interface ListedTool {
  readonly key: string;
  readonly id: string;
  readonly description: string;
  readonly effect: ToolEffect | null;
  readonly groups: readonly string[];
  /** `*` for every state. */
  readonly available_in_states: readonly string[];
  /** The state after it succeeds; null for no change. */
  readonly state: string | null;
  /** What rules about it ask for and only a run will have; absent where everything is known. */
  readonly depends_on?: readonly RuleFactName[];
}

/** What is known of who asks and when, by which rules are judged, and which of it is not. */
export interface KnownFacts {
  readonly facts: RuleFacts;
  readonly unknown: Unknown;
}

/** A group, and the tools that a request for it covers in some state. */
export interface ListedGroup {
  readonly name: string;
  /** The groups directly within it. */
  readonly groups: readonly string[];
  readonly tools: readonly ListedTool[];
}

/** A state, the tools that are available in it, and where they lead. */
export interface ListedState {
  readonly name: string;
  readonly tools: readonly string[];
  /** By the key of the tool that leads there. */
  readonly transitions: Readonly<Record<string, string>>;
}

/**
 * The groups that a caller with these permitted groups may ask for, with the tools that the policy allows, that can
 * run and that no rule closes in every state and after every call (tool-groups.md 12, question 2). Whatever the
 * caller may not ask for is not named, neither as a group nor as a tag. Where nothing is known of a request, rules
 * close nothing.
 */
export function listGroups(
  evaluator: Evaluator,
  permitted: readonly string[],
  known: KnownFacts | null,
): readonly ListedGroup[] {
  const tree = evaluator.configuration.groupTree ?? noGroupTree;
  const mayAsk = maySee(permitted, tree);
  const tools = usable(evaluator, mayAsk, known);
  return groupNames(evaluator, permitted).map((name) => {
    const covered = withGroupsBelow(name, tree);
    return {
      name,
      groups: tree[name] ?? [],
      tools: tools.filter((tool) => tool.groups.some((group) => covered.includes(group))),
    };
  });
}

/** The names of these groups. */
export function groupNames({ configuration, rules }: Evaluator, permitted: readonly string[]): readonly string[] {
  const mayAsk = maySee(permitted, configuration.groupTree ?? noGroupTree);
  return [...rules.knownGroups].filter((name) => name !== wildcard && mayAsk(name)).sort();
}

/** The states in which the caller has a tool or to which one of them leads, `undefined` first. */
export function listStates(
  evaluator: Evaluator,
  permitted: readonly string[],
  known: KnownFacts,
): readonly ListedState[] {
  const mayAsk = maySee(permitted, evaluator.configuration.groupTree ?? noGroupTree);
  const tools = usable(evaluator, mayAsk, known);
  return statesOf(tools).map((name) => {
    const isOpen = openIn(name, evaluator, known);
    const here = tools.filter(
      ({ id, available_in_states: states }) => (states.includes(name) || states.includes(wildcard)) && isOpen(id),
    );
    const moves = here.filter(({ state }) => state !== null && state !== name);
    return {
      name,
      tools: here.map(({ key }) => key),
      transitions: Object.fromEntries(moves.map(({ key, state }) => [key, state as string])),
    };
  });
}

/** The names of these states. */
export function stateNames(evaluator: Evaluator, permitted: readonly string[]): readonly string[] {
  const mayAsk = maySee(permitted, evaluator.configuration.groupTree ?? noGroupTree);
  return statesOf(usable(evaluator, mayAsk, null));
}

/** Whether a state is one of these. */
export function knowsState(evaluator: Evaluator, permitted: readonly string[], state: string): boolean {
  if (state === undefinedState) return true;
  if (!evaluator.rules.knownStates.has(state)) return false;
  const mayAsk = maySee(permitted, evaluator.configuration.groupTree ?? noGroupTree);
  return evaluator.configuration.tools.some(
    (tool) => (tool.states.includes(state) || tool.target === state) && isUsable(tool, evaluator, mayAsk),
  );
}

function statesOf(tools: readonly ListedTool[]): readonly string[] {
  const named = tools.flatMap((tool) => [...tool.available_in_states, tool.state]);
  const others = [...new Set(named)].filter((name) => name !== null && name !== wildcard && name !== undefinedState);
  return [undefinedState, ...(others as string[]).sort()];
}

/** The states as a Mermaid state diagram. A tool that is available everywhere leads there from every state. */
export function stateDiagram(states: readonly ListedState[]): string {
  const ids = new Map(states.map(({ name }, place) => [name, `s${String(place)}`]));
  const label = (text: string): string => text.replaceAll(/["\n\r;]/g, ' ');
  const lines = states.map(({ name }) => `  state "${label(name)}" as ${ids.get(name) ?? ''}`);
  for (const { name, transitions } of states)
    for (const [target, moves] of Map.groupBy(Object.entries(transitions), ([, to]) => to))
      lines.push(
        `  ${ids.get(name) ?? ''} --> ${ids.get(target) ?? ''}: ${label(moves.map(([key]) => key).join(', ')).replaceAll(':', ' ')}`,
      );
  return ['stateDiagram-v2', ...lines, ''].join('\n');
}

function maySee(permitted: readonly string[], tree: GroupTree): (group: string) => boolean {
  return permitted.includes(wildcard) ? () => true : (group) => isWithin(group, permitted, tree);
}

/**
 * Which tools no rule closes in this state, or in every state where it is null: the evaluator’s own judgement of what
 * is known.
 */
function openIn(state: string | null, evaluator: Evaluator, { facts, unknown }: KnownFacts): (id: string) => boolean {
  const { availability } = withoutFacts(evaluator, whole(unknown, state === null));
  const closed = availability.closed(facts, noCalls, state ?? undefinedState);
  const places = new Map(evaluator.configuration.tools.map(({ id }, place) => [id, place]));
  return (id) => (closed & availability.ofTool(places.get(id) ?? -1)) === 0;
}

/** A listing is about whole runs: what they will have done, and which states they will be in, is open. */
function whole(unknown: Unknown, isAnyState: boolean): Unknown {
  return [...unknown, 'history', ...(isAnyState ? (['state'] as const) : [])];
}

function usable(
  evaluator: Evaluator,
  mayAsk: (group: string) => boolean,
  known: KnownFacts | null,
): readonly ListedTool[] {
  const isOpen = known === null ? () => true : openIn(null, evaluator, known);
  return evaluator.configuration.tools
    .filter((tool) => isUsable(tool, evaluator, mayAsk) && isOpen(tool.id))
    .map(({ key, id, description, spec, groups, states, target }) => {
      const open = known === null ? [] : dependsOn(evaluator, id, whole(known.unknown, true));
      return {
        key,
        id,
        description,
        effect: spec?.effect ?? null,
        groups: groups.filter(mayAsk),
        available_in_states: states,
        state: target,
        ...(open.length > 0 && { depends_on: open }),
      };
    });
}

/** Whether the caller reaches the tool through a group of its own; one without a group only who may ask for all. */
function isUsable(tool: ConfiguredTool, { policy }: Evaluator, mayAsk: (group: string) => boolean): boolean {
  if (tool.spec === null || policy.decide(tool) === 'deny') return false;
  return tool.groups.length === 0 ? mayAsk(wildcard) : tool.groups.some(mayAsk);
}
