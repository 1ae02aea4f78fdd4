import { graphlib, layout as placeAll } from '@dagrejs/dagre';
import type { Edge } from '@dagrejs/dagre';

/** A state as a graph shows it. */
export interface GraphState {
  readonly name: string;
  readonly tools: readonly string[];
  /** By the key of the tool that leads there: the state. */
  readonly transitions: Readonly<Record<string, string>>;
}

interface DrawnState {
  readonly state: GraphState;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface RoutedTransition {
  readonly from: string;
  readonly to: string;
  /** Keys of the tools that lead this way. */
  readonly tools: readonly string[];
  /** Where the line goes, from its beginning to its end. */
  readonly points: readonly Point[];
  /** The middle of the label. */
  readonly label: Point;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface StateLayout {
  readonly states: readonly DrawnState[];
  readonly ways: readonly RoutedTransition[];
  readonly width: number;
  readonly height: number;
}

/** Pixels of a letter, about. */
const letter = 7.4;
const shownTools = 2;

/** What stands at a way: its tools, or the first of many. */
export function wayLabel(tools: readonly string[]): string {
  const shown = tools.slice(0, shownTools).join(', ');
  return tools.length <= shownTools ? shown : `${shown} +${tools.length - shownTools}`;
}

/** Places states and the ways between them so that few lines cross; `down` for narrow screens. */
export function layoutStates(states: readonly GraphState[], direction: 'right' | 'down'): StateLayout {
  const graph = new graphlib.Graph({ directed: true });
  graph.setGraph({ rankdir: direction === 'right' ? 'LR' : 'TB', nodesep: 36, ranksep: 44, edgesep: 18 });
  graph.setDefaultEdgeLabel(() => ({}));
  const names = new Set(states.map(({ name }) => name));
  for (const { name } of states)
    graph.setNode(name, { width: Math.min(240, Math.max(120, name.length * letter + 44)), height: 56 });
  for (const { name, transitions } of states) {
    const byTarget = Map.groupBy(Object.entries(transitions), ([, target]) => target);
    for (const [target, entries] of byTarget) {
      if (target === name || !names.has(target)) continue;
      const tools = entries.map(([tool]) => tool);
      const width = wayLabel(tools).length * 6.6 + 16;
      graph.setEdge(name, target, { width, height: 22, labelpos: 'c', tools });
    }
  }
  placeAll(graph);
  const { width = 0, height = 0 } = graph.graph() as Partial<Box>;
  return {
    ...{ width, height },
    states: states.map((state) => {
      const { x, y, width, height } = graph.node(state.name) as Required<Box>;
      return { state, x: x - width / 2, y: y - height / 2, width, height };
    }),
    ways: graph.edges().map(({ v, w }: Edge) => {
      const { points, x, y, tools } = graph.edge(v, w) as unknown as RoutedEdge;
      return { from: v, to: w, tools, points, label: { x, y } };
    }),
  };
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface RoutedEdge extends Box {
  readonly points: readonly Point[];
  readonly tools: readonly string[];
}

/** A line through the points, round at its corners. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = [`M ${first.x} ${first.y}`];
  rest.forEach((point, place) => {
    const next = rest[place + 1];
    if (next === undefined) parts.push(`L ${point.x} ${point.y}`);
    else parts.push(`Q ${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`);
  });
  return parts.join(' ');
}
