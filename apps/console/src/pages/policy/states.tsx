import { useQuery } from '@tanstack/react-query';
import type { DescribedState } from '@sluice/client';
import { configurationQuery } from '../../data/configurations.js';
import { mostStates, StateGraph } from '../../graph/state-graph.js';
import type { StateMark } from '../../graph/state-graph.js';
import { Card, Row } from '../../ui/page.js';
import { Loading, Note, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Term } from '../../ui/term.js';

/** The states, which tools lead from one to the other, and where a run would be stuck. */
export function States() {
  const view = useQuery(configurationQuery());
  if (view.isPending) return <Loading label="Loading the states" />;
  if (view.isError) return <RequestProblem error={view.error} again={() => void view.refetch()} />;
  const { states } = view.data;
  const byName = new Map(states.map((state) => [state.name, state]));
  return (
    <Card title="State graph">
      {states.length > mostStates ? (
        <Note>A graph of {states.length} states could not be read. The table has them all.</Note>
      ) : (
        <StateGraph
          states={states}
          markOf={(name) => markOf(byName.get(name))}
          label={`A graph of ${states.length} states; the table below says the same`}
        />
      )}
      <Table label="States" columns={columns} items={states} keyOf={({ name }) => name} />
    </Card>
  );
}

function markOf(state: DescribedState | undefined): StateMark | null {
  if (state === undefined) return null;
  if (state.dead_end) return { tone: 'bad', note: 'dead end' };
  if (!state.reachable) return { tone: 'warn', note: 'never reached' };
  return state.name === 'undefined' ? { tone: 'accent', note: 'start' } : null;
}

const columns: readonly Column<DescribedState>[] = [
  {
    id: 'name',
    name: <Term name="state" />,
    cell: (state) => (
      <Row>
        <strong>{state.name}</strong>
        {state.name === 'undefined' && <Tag tone="accent">start</Tag>}
        {state.dead_end && (
          <Tag tone="bad">
            <Term name="deadEnd">dead end</Term>
          </Tag>
        )}
        {!state.reachable && <Tag tone="warn">never reached</Tag>}
      </Row>
    ),
  },
  {
    id: 'tools',
    name: 'Tools available',
    isMinor: true,
    cell: ({ tools }) => (tools.length === 0 ? 'none' : tools.join(', ')),
  },
  {
    id: 'ways',
    name: 'Leads to',
    cell: ({ transitions }) => {
      const ways = Object.entries(transitions);
      return ways.length === 0 ? 'no other state' : ways.map(([tool, to]) => `${to} by ${tool}`).join(', ');
    },
  },
];
