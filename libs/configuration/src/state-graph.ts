import type { RuleTool } from '@sluice/core';
import { undefinedState, wildcard } from '@sluice/core';

/** The states of a configuration and the tools that lead from one to another. */
interface StateGraph {
  /** Keys of the tools that lead to each state from a different one. */
  readonly leadingTo: ReadonlyMap<string, readonly string[]>;
  /** The states a request that starts in `undefined` can come to, that one included. */
  readonly reachable: ReadonlySet<string>;
  /** States that can all be reached from each other, two or more together, with the keys of the tools between them. */
  readonly cycles: readonly { readonly states: readonly string[]; readonly tools: readonly string[] }[];
}

/** Stands between every state and the targets of the tools available everywhere, so that edges stay few. */
const everywhere = Symbol('everywhere');
type Node = string | typeof everywhere;
type Edges = ReadonlyMap<Node, ReadonlySet<Node>>;

export function stateGraph(tools: readonly RuleTool[], states: ReadonlySet<string>): StateGraph {
  const forward = new Map<Node, Set<Node>>([[everywhere, new Set()]]);
  for (const state of states) forward.set(state, new Set([everywhere]));
  const moving = tools.filter((tool) => tool.target !== null && tool.states.some((state) => state !== tool.target));
  for (const tool of moving) {
    const sources: readonly Node[] = tool.states.includes(wildcard) ? [everywhere] : tool.states;
    for (const source of sources) forward.get(source)?.add(tool.target as string);
  }
  const leadingTo = Map.groupBy(moving, (tool) => tool.target as string);
  return {
    leadingTo: new Map([...leadingTo].map(([state, leading]) => [state, leading.map((tool) => tool.key)])),
    reachable: reached(forward, undefinedState),
    cycles: components(forward)
      .filter((part) => part.length > 1)
      .map((part) => ({ states: part, tools: within(moving, new Set(part)) })),
  };
}

/** The tools with a move between two different states of the set. */
function within(moving: readonly RuleTool[], states: ReadonlySet<string>): readonly string[] {
  const moves = (tool: RuleTool, from: string): boolean =>
    from !== tool.target && (from === wildcard || states.has(from));
  return moving
    .filter((tool) => states.has(tool.target as string) && tool.states.some((from) => moves(tool, from)))
    .map((tool) => tool.key);
}

function reached(edges: Edges, start: Node): ReadonlySet<string> {
  const seen = new Set<Node>([start]);
  for (const node of seen) for (const next of edges.get(node) ?? []) seen.add(next);
  return named(seen);
}

/**
 * Sets of states that reach each other, after Kosaraju: in order of completion, then against the edges. Without
 * recursion, since chains may be long.
 */
function components(edges: Edges): readonly (readonly string[])[] {
  const backward = new Map<Node, Set<Node>>([...edges.keys()].map((node) => [node, new Set()]));
  for (const [from, targets] of edges) for (const to of targets) backward.get(to)?.add(from);
  const seen = new Set<Node>();
  const order: Node[] = [];
  for (const start of edges.keys()) complete(edges, start, seen, (node) => order.push(node));
  const parts: string[][] = [];
  const taken = new Set<Node>();
  for (const start of order.reverse()) {
    const part = new Set<Node>();
    complete(backward, start, taken, (node) => part.add(node));
    // In the order of the configuration, so that the same file gives the same text.
    if (part.size > 1)
      parts.push([...edges.keys()].filter((node) => typeof node === 'string' && part.has(node)) as string[]);
  }
  return parts;
}

/** Walks depth first from a node not yet seen and reports each node when everything behind it has been walked. */
function complete(edges: Edges, start: Node, seen: Set<Node>, report: (node: Node) => void): void {
  if (seen.has(start)) return;
  const path: { readonly node: Node; readonly rest: Iterator<Node> }[] = [];
  const enter = (node: Node): void => {
    seen.add(node);
    path.push({ node, rest: (edges.get(node) ?? new Set<Node>()).values() });
  };
  enter(start);
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const next = top.rest.next();
    if (next.done === true) {
      report(top.node);
      path.pop();
    } else if (!seen.has(next.value)) enter(next.value);
  }
}

function named(nodes: ReadonlySet<Node>): ReadonlySet<string> {
  return new Set([...nodes].filter((node) => typeof node === 'string'));
}
