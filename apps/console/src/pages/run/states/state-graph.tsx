import { graphlib, layout } from '@dagrejs/dagre';
import { BaseEdge, Handle, MarkerType, Position, ReactFlow } from '@xyflow/react';
import type { Edge, EdgeProps, Node, NodeProps } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo } from 'react';
import css from './states.module.css';
import type { StateGraphData, Way } from './way.js';

interface StateData extends Record<string, unknown> {
  readonly name: string;
  readonly isVisited: boolean;
  readonly isLast: boolean;
}

type StateNode = Node<StateData, 'state'>;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface MoveData extends Record<string, unknown> {
  readonly points: readonly Point[];
  readonly label: string;
  /** Where the label stands. */
  readonly at: Point;
}

type MoveEdge = Edge<MoveData, 'move'>;

const height = 38;
const widthOf = (name: string): number => Math.min(220, 36 + name.length * 8);
const nodeTypes = { state: StateBox };
const edgeTypes = { move: MoveLine };

interface Props {
  readonly graph: StateGraphData;
  readonly way: Way;
  /** From top to bottom, where it is narrow. */
  readonly isUpright: boolean;
}

/** The states as a graph, with the way of the run. It can be moved and zoomed. */
export default function StateGraph({ graph, way, isUpright }: Props) {
  const { nodes, edges } = useMemo(() => placed(graph, way, isUpright), [graph, way, isUpright]);
  return (
    <div className={css['graph']}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        fitView
        fitViewOptions={{ padding: 0.12, maxZoom: 1.1 }}
        minZoom={0.2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        aria-label="The states of the run as a graph; the list below says the same"
      />
    </div>
  );
}

function StateBox({ data: { name, isVisited, isLast } }: NodeProps<StateNode>) {
  return (
    <div className={`${css['node']} ${isVisited ? css['visited'] : ''} ${isLast ? css['last'] : ''}`} title={name}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {name}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

/** A line along the points that the layout gave it, so that it goes around the states between its ends. */
function MoveLine({ data, markerEnd = '' }: EdgeProps<MoveEdge>) {
  if (data === undefined) return null;
  const { points, label, at } = data;
  return (
    <>
      <BaseEdge path={pathOf(points)} markerEnd={markerEnd} />
      <text x={at.x} y={at.y} className={css['label']}>
        {label}
      </text>
    </>
  );
}

/** Smooth through the middles between the points. */
function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = rest.map(({ x, y }, n) => {
    const next = rest[n + 1];
    return next === undefined ? `L ${x} ${y}` : `Q ${x} ${y} ${(x + next.x) / 2} ${(y + next.y) / 2}`;
  });
  return [`M ${first.x} ${first.y}`, ...parts].join(' ');
}

interface Drawn {
  readonly nodes: StateNode[];
  readonly edges: MoveEdge[];
}

function placed(graph: StateGraphData, { visited, last }: Way, isUpright: boolean): Drawn {
  const plan = new graphlib.Graph();
  plan.setGraph({ rankdir: isUpright ? 'TB' : 'LR', nodesep: 30, ranksep: 34, edgesep: 18 });
  for (const name of graph.states) plan.setNode(name, { width: widthOf(name), height });
  for (const { from, to, tools, taken } of graph.edges)
    plan.setEdge(from, to, { width: 8 + labelOf(tools, taken).length * 6.4, height: 18, labelpos: 'c' });
  layout(plan);
  const nodes = graph.states.map((name): StateNode => {
    const { x, y } = plan.node(name) as Point;
    const width = widthOf(name);
    return {
      ...{ id: name, type: 'state', width, height },
      position: { x: x - width / 2, y: y - height / 2 },
      data: { name, isVisited: visited.has(name), isLast: name === last },
    };
  });
  const edges = graph.edges.map(({ from, to, tools, taken }): MoveEdge => {
    const color = taken > 0 ? 'var(--accent)' : 'var(--line-strong)';
    const { points, x, y } = plan.edge(from, to) as Point & { readonly points: readonly Point[] };
    return {
      ...{ id: JSON.stringify([from, to]), type: 'move', source: from, target: to },
      data: { points, label: labelOf(tools, taken), at: { x, y } },
      className: (taken > 0 ? css['taken'] : css['edge']) ?? '',
      zIndex: taken > 0 ? 1 : 0,
      markerEnd: { type: MarkerType.ArrowClosed, color },
    };
  });
  return { nodes, edges };
}

function labelOf([first = '', ...more]: readonly string[], taken: number): string {
  const name = first.length > 28 ? `${first.slice(0, 27)}…` : first;
  return `${name}${more.length > 0 ? ` +${more.length}` : ''}${taken > 1 ? ` (${taken}×)` : ''}`;
}
