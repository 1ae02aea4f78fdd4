import { graphlib, layout } from '@dagrejs/dagre';
import { Handle, MarkerType, Position, ReactFlow } from '@xyflow/react';
import type { Edge, Node, NodeProps } from '@xyflow/react';
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

const height = 38;
const widthOf = (name: string): number => Math.min(220, 36 + name.length * 8);
const nodeTypes = { state: StateBox };

interface Props {
  readonly graph: StateGraphData;
  readonly way: Way;
}

/** The states as a graph, with the way of the run. It can be moved and zoomed. */
export default function StateGraph({ graph, way }: Props) {
  const { nodes, edges } = useMemo(() => placed(graph, way), [graph, way]);
  return (
    <div className={css['graph']}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
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

function placed(
  graph: StateGraphData,
  { visited, last }: Way,
): { readonly nodes: StateNode[]; readonly edges: Edge[] } {
  const plan = new graphlib.Graph();
  plan.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 120 });
  plan.setDefaultEdgeLabel(() => ({}));
  for (const name of graph.states) plan.setNode(name, { width: widthOf(name), height });
  for (const { from, to } of graph.edges) plan.setEdge(from, to);
  layout(plan);
  const nodes = graph.states.map((name): StateNode => {
    const { x, y } = plan.node(name) as { readonly x: number; readonly y: number };
    const width = widthOf(name);
    return {
      ...{ id: name, type: 'state', width, height },
      position: { x: x - width / 2, y: y - height / 2 },
      data: { name, isVisited: visited.has(name), isLast: name === last },
    };
  });
  const edges = graph.edges.map(({ from, to, tools, taken }): Edge => {
    const color = taken > 0 ? 'var(--accent)' : 'var(--line-strong)';
    return {
      ...{ id: JSON.stringify([from, to]), source: from, target: to, label: labelOf(tools, taken) },
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
