import type { BudgetUse, IterationVerdicts, ListedRun, Run } from '@sluice/client';
import { count, duration, money } from '../../ui/format.js';
import { Card, Columns, Stack } from '../../ui/page.js';
import { Empty } from '../../ui/states.js';
import { useNow } from '../../ui/time.js';
import type { RunTimeline } from './timeline/model.js';
import css from './run.module.css';

interface Props {
  readonly verdicts: readonly IterationVerdicts[] | null;
  readonly listed: ListedRun | null;
  readonly run: Run;
  readonly timeline: RunTimeline;
}

/** What the run used of what it may use. */
export function Budgets({ verdicts, listed, run, timeline }: Props) {
  const now = useNow(run.status === 'running' ? 1_000 : null);
  const last = verdicts?.at(-1);
  if (last === undefined || listed === null)
    return <Empty title="Nothing is known yet.">Budgets are known from the first iteration on.</Empty>;
  const { budgets } = last;
  const from = listed.started_at;
  const waitsSince = run.status === 'running' ? timeline.waitsSince() : null;
  const to = listed.ended_at ?? waitsSince ?? now;
  const limited = [budgets?.calls, budgets?.tokens, budgets?.micro_usd].some((use) => use != null);
  return (
    <Columns>
      <Card title="Limits of the run">
        <Stack>
          <Use name="Iterations" use={{ used: last.iteration, limit: last.max_iterations }} as={count} />
          <Use name="Time" use={{ used: to - from, limit: last.deadline - from }} as={duration} />
          {waitsSince !== null && <p>The time stands still while the run waits for an approval.</p>}
        </Stack>
      </Card>
      <Card title={`Budgets of policy, before iteration ${last.iteration}`}>
        <Stack>
          {budgets === null && <p>The configuration of then is gone, so its budgets are not known.</p>}
          {budgets !== null && !limited && <p>The policy sets no budget for calls, tokens or cost of a run.</p>}
          {budgets?.calls && <Use name="Calls of tools" use={budgets.calls} as={count} />}
          {budgets?.tokens && <Use name="Tokens" use={budgets.tokens} as={count} />}
          {budgets?.micro_usd && <Use name="Cost" use={budgets.micro_usd} as={money} />}
          {budgets?.tools.map(({ tool, ...use }) => (
            <Use key={tool} name={`Calls of ${tool}`} use={use} as={count} />
          ))}
        </Stack>
      </Card>
    </Columns>
  );
}

interface UseProps {
  readonly name: string;
  readonly use: BudgetUse;
  readonly as: (value: number) => string;
}

function Use({ name, use: { used, limit }, as }: UseProps) {
  const part = limit <= 0 ? 1 : Math.min(1, used / limit);
  return (
    <div className={css['budget']}>
      <div className={css['budgetHead']}>
        <span>{name}</span>
        <span>
          {as(used)} of {as(limit)}
        </span>
      </div>
      <div
        className={css['meter']}
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
        aria-valuetext={`${as(used)} of ${as(limit)}`}
      >
        <div className={part >= 1 ? css['full'] : ''} style={{ width: `${part * 100}%` }} />
      </div>
    </div>
  );
}
