import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { toolUseQuery } from '../../data/tools.js';
import { count, duration } from '../../ui/format.js';
import { Card, Figure } from '../../ui/page.js';
import { Loading, RequestProblem } from '../../ui/states.js';
import css from './tools.module.css';

/** How often runs of the last 30 days called a tool, how often that failed, and how long it took. */
export function ToolUse({ tool }: { readonly tool: string }) {
  const use = useQuery(toolUseQuery());
  const row = use.data?.rows.find(({ name }) => name === tool);
  return (
    <Card
      title="Use in the last 30 days"
      actions={
        <Link to="/runs" search={{ tool }}>
          Runs that called it
        </Link>
      }
    >
      {use.isPending && <Loading />}
      {use.isError && <RequestProblem error={use.error} again={() => void use.refetch()} />}
      {use.isSuccess && row === undefined && <p>No run that has ended called it.</p>}
      {row !== undefined && (
        <div className={css['figures']}>
          <Figure name="Calls" value={count(row.calls ?? 0)} />
          <Figure
            name="Failed"
            value={`${((100 * row.failures) / Math.max(1, row.calls ?? 0)).toFixed(1)} %`}
            note={row.failures === 1 ? 'one call' : `${count(row.failures)} calls`}
          />
          <Figure
            name="Time of a call"
            value={row.p50_ms === null ? '–' : duration(row.p50_ms)}
            note={row.p95_ms === null ? undefined : `half of them; 95 of 100 took at most ${duration(row.p95_ms)}`}
          />
        </div>
      )}
    </Card>
  );
}
