import '@xyflow/react/dist/base.css';
import {
  BaseEdge,
  ControlButton,
  Controls,
  EdgeLabelRenderer,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  useReactFlow,
} from '@xyflow/react';
import type { Edge, EdgeProps, Node, NodeProps, ReactFlowInstance } from '@xyflow/react';
import { useMemo } from 'react';
import { pathThrough, layoutStates, wayLabel } from './layout.js';
import type { GraphState, StateLayout, RoutedTransition } from './layout.js';
import css from './state-graph.module.css';

/** How a state is marked, beside its name. */
export interface StateMark {
  readonly tone: 'plain' | 'bad' | 'warn' | 'accent';
  readonly note: string;
}

interface Props {
  readonly states: readonly GraphState[];
  readonly markOf: (name: string) => StateMark | null;
  /** Whether a way is drawn as one that was taken. */
  readonly isTaken?: (from: string, to: string) => boolean;
  readonly label: string;
  /** It stands in a column beside something else, so it goes down. */
  readonly isNarrow?: boolean;
}

/** More states than this are a list and no graph. */
export const mostStates = 150;

type StateNode = Node<{ readonly state: GraphState; readonly mark: StateMark | null }, 'state'>;
type WayEdge = Edge<{ readonly way: RoutedTransition; readonly isTaken: boolean }, 'way'>;

/** The states and which tools lead from one to the other. It is a picture: what it says stands in a table beside it. */
export function StateGraph({ states, markOf, isTaken = () => false, label, isNarrow = false }: Props) {
  const direction = isNarrow || window.matchMedia('(max-width: 720px)').matches ? 'down' : 'right';
  const placed = useMemo(() => layoutStates(states, direction), [states, direction]);
  const nodes = placed.states.map(({ state, x, y, width, height }): StateNode => ({
    ...{ id: state.name, type: 'state', position: { x, y }, width, height },
    data: { state, mark: markOf(state.name) },
  }));
  const edges = placed.ways.map((way): WayEdge => {
    const taken = isTaken(way.from, way.to);
    const color = taken ? 'var(--accent)' : 'var(--line-strong)';
    return {
      ...{ id: `${way.from} → ${way.to}`, type: 'way', source: way.from, target: way.to },
      data: { way, isTaken: taken },
      markerEnd: { type: MarkerType.ArrowClosed, color, width: 18, height: 18 },
    };
  });
  return (
    <div className={css['graph']} role="group" aria-label={label} style={{ height: heightFor(placed, isNarrow) }}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={(flow) => show(flow, placed)}
        minZoom={0.1}
        maxZoom={1.2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} showFitView={false} position="bottom-right" orientation="horizontal">
          <ShowAll layout={placed} />
        </Controls>
      </ReactFlow>
    </div>
  );
}

/** All of it, with the names at its lines. */
function show(flow: Pick<ReactFlowInstance, 'fitBounds'>, { width, height }: StateLayout): void {
  void flow.fitBounds({ x: 0, y: 0, width, height }, { padding: 0.04 });
}

function ShowAll({ layout }: { readonly layout: StateLayout }) {
  const flow = useReactFlow();
  return (
    <ControlButton onClick={() => show(flow, layout)} title="Show all" aria-label="Show all">
      ⤢
    </ControlButton>
  );
}

/** As high as the graph is when it is as wide as its place, about. */
function heightFor({ width, height }: Pick<StateLayout, 'width' | 'height'>, isNarrow: boolean): number {
  const room = isNarrow ? 300 : window.innerWidth < 860 ? window.innerWidth - 60 : 1_000;
  const scale = Math.min(1, room / Math.max(1, width));
  return Math.min(520, Math.max(220, height * scale + 60));
}

const nodeTypes = { state: StateBox };
const edgeTypes = { way: Way };

function StateBox({ data: { state, mark } }: NodeProps<StateNode>) {
  return (
    <div className={`${css['state']} ${css[mark?.tone ?? 'plain']}`} title={state.name}>
      <Handle type="target" position={Position.Left} isConnectable={false} className={css['handle'] ?? ''} />
      <strong>{state.name}</strong>
      <span>{mark?.note ?? (state.tools.length === 1 ? '1 tool' : `${state.tools.length} tools`)}</span>
      <Handle type="source" position={Position.Right} isConnectable={false} className={css['handle'] ?? ''} />
    </div>
  );
}

function Way({ data, markerEnd }: EdgeProps<WayEdge>) {
  if (data === undefined) return null;
  const { way, isTaken } = data;
  const { x, y } = way.label;
  return (
    <>
      <BaseEdge
        path={pathThrough(way.points)}
        {...(markerEnd === undefined ? {} : { markerEnd })}
        className={css[isTaken ? 'taken' : 'way'] ?? ''}
      />
      <EdgeLabelRenderer>
        <span
          className={css['label']}
          style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          title={way.tools.join(', ')}
        >
          {wayLabel(way.tools)}
        </span>
      </EdgeLabelRenderer>
    </>
  );
}
