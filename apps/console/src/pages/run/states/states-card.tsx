import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import type { IterationVerdicts } from '@sluice/client';
import { sluice } from '../../../data/client.js';
import { count } from '../../../ui/format.js';
import { Card } from '../../../ui/page.js';
import { Loading, RequestProblem } from '../../../ui/states.js';
import { Tag } from '../../../ui/tag.js';
import { Term } from '../../../ui/term.js';
import type { CallTimes, RunTimeline } from '../timeline/model.js';
import type { StateMark } from '../../../graph/state-graph.js';
import css from './states.module.css';
import { wayOf, withMoves } from './way.js';
import type { Way } from './way.js';

const StateGraph = lazy(async () => ({ default: (await import('../../../graph/state-graph.js')).StateGraph }));

interface Props {
  readonly timeline: RunTimeline;
  readonly revision: number;
  readonly verdicts: readonly IterationVerdicts[] | null;
  readonly times: CallTimes;
  /** Beside the timeline. */
  readonly isSmall?: boolean;
}

/** The states, and the way that the run took through them. */
export function StatesCard({ timeline, revision, verdicts, times, isSmall = false }: Props) {
  const states = useQuery({ queryKey: ['states'], queryFn: ({ signal }) => sluice.states.list({ signal }) });
  const way = useMemo(() => wayOf(timeline, verdicts), [timeline, revision, verdicts]);
  const graph = useMemo(() => (states.data === undefined ? null : withMoves(states.data, way)), [states.data, way]);
  const taken = useMemo(() => new Set(way.moves.map(({ from, to }) => JSON.stringify([from, to]))), [way]);
  if (states.error !== null && states.data === undefined) return <RequestProblem error={states.error} />;
  return (
    <Card title={<Term name="state">States</Term>}>
      {graph === null ? (
        <Loading label="Reading the states" />
      ) : (
        <Suspense fallback={<Loading label="Drawing" />}>
          <StateGraph
            states={graph}
            markOf={(name) => markOf(name, way, timeline.end !== null)}
            isTaken={(from, to) => taken.has(JSON.stringify([from, to]))}
            isNarrow={isSmall}
            label="The states, with the way that the run took; the list below says it in words"
          />
        </Suspense>
      )}
      <WayList way={way} times={times} />
    </Card>
  );
}

function markOf(name: string, { visited, last }: Way, isEnded: boolean): StateMark | null {
  if (name === last) return { tone: 'accent', note: isEnded ? 'ended here' : 'is here' };
  return visited.has(name) ? { tone: 'accent', note: 'was here' } : null;
}

const mostMoves = 100;

/** The same as the graph, in words. */
function WayList({ way: { moves, last }, times }: { readonly way: Way; readonly times: CallTimes }) {
  if (moves.length === 0)
    return <p className={css['hint']}>No call led to another state{last === null ? '' : `: the run is in ${last}`}.</p>;
  return (
    <ol className={css['way']}>
      {moves.slice(0, mostMoves).map(({ from, to, tool, callId, iteration }) => (
        <li key={callId}>
          <Tag>{from}</Tag> →{' '}
          <Link from="/runs/$requestId" to="." search={(search) => ({ ...search, tab: undefined, call: callId })}>
            {times.get(callId)?.tool ?? tool}
          </Link>{' '}
          → <Tag tone="accent">{to}</Tag> <span className={css['hint']}>in iteration {count(iteration)}</span>
        </li>
      ))}
      {moves.length > mostMoves && <li>and {count(moves.length - mostMoves)} more</li>}
    </ol>
  );
}
