import { count, duration } from '../../../ui/format.js';
import { Tag } from '../../../ui/tag.js';
import { Moment } from '../../../ui/time.js';
import { ApprovalLine } from './approval-line.js';
import { Bar } from './bar.js';
import { CallLine } from './call-line.js';
import type { CallTimes, RunTimeline } from './model.js';
import type { Plan } from './plan.js';
import type { Row } from './row-kinds.js';
import type { TimeScale } from './scale.js';
import { TextLine } from './text-line.js';
import css from './timeline.module.css';

interface Props {
  readonly row: Row;
  readonly scale: TimeScale | null;
  readonly timeline: RunTimeline;
  readonly question: string | null;
  readonly times: CallTimes;
  readonly openCall: string | null;
  /** `isInPlace` of a call whose own line was pressed. */
  readonly onOpenCall: (name: string | null, isInPlace: boolean) => void;
  readonly onToggle: (key: string) => void;
}

/** One row of the timeline. */
export function TimelineRow(props: Props) {
  const { row } = props;
  return (
    <div className={css[row.kind]} style={{ paddingInlineStart: 10 + row.depth * 22 }} data-depth={row.depth}>
      <Content {...props} />
    </div>
  );
}

function Content({ row, scale, timeline, question, times, openCall, onOpenCall, onToggle }: Props) {
  switch (row.kind) {
    case 'iteration':
      return <IterationLine row={row} scale={scale} onToggle={onToggle} />;
    case 'decision': {
      const { action, reason } = row.iteration.decision ?? {};
      return (
        <span className={css['quiet']}>
          <Tag tone="note">{String(action ?? 'decision')}</Tag>
          {String(reason ?? '')}
        </span>
      );
    }
    case 'plan':
      return <PlanLine plan={row.plan} />;
    case 'text':
      return <TextLine text={row.text} isAnswer={row.isAnswer} />;
    case 'retry': {
      const { attempt, reason, retry_at: at } = row.retry;
      return (
        <span className={css['badText']}>
          The model could not be had ({reason}), attempt {count(attempt)}. It is asked again <Moment at={at} />.
        </span>
      );
    }
    case 'call': {
      const isOpen = row.name === openCall;
      return (
        <CallLine
          row={row}
          scale={scale}
          timeline={timeline}
          question={question}
          times={times}
          isOpen={isOpen}
          onToggle={() => onOpenCall(isOpen ? null : row.name, true)}
          onOpen={(name) => onOpenCall(name, false)}
        />
      );
    }
    case 'approval':
      return <ApprovalLine item={row.item} />;
    case 'idle':
      return (
        <span className={css['idleText']}>
          {duration(row.ms)} {row.isForApproval ? 'waiting for an approval' : 'in which nothing went on'}
        </span>
      );
    case 'end':
      return (
        <span className={css['badText']}>
          <Tag tone="bad">{row.code}</Tag> {row.message}
        </span>
      );
  }
}

interface IterationProps {
  readonly row: Extract<Row, { kind: 'iteration' }>;
  readonly scale: TimeScale | null;
  readonly onToggle: (key: string) => void;
}

function IterationLine({ row, scale, onToggle }: IterationProps) {
  const { iteration, agent, calls, failed, span, isOpen } = row;
  const { number, state, tools, usage } = iteration;
  const tokens = usage === null ? 0 : usage.input_tokens + usage.output_tokens;
  return (
    <div className={css['line']}>
      <button type="button" className={css['fold']} aria-expanded={isOpen} onClick={() => onToggle(row.key)}>
        <span className={css['chevron']} aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <strong>
          {agent === null ? 'Iteration' : `${agent}, iteration`} {count(number)}
        </strong>
        {state !== null && (
          <span className={css['fixed']}>
            <Tag>{state}</Tag>
          </span>
        )}
        <span className={css['quiet']}>
          {count(tools.length)} {tools.length === 1 ? 'tool' : 'tools'} offered, {count(calls)}{' '}
          {calls === 1 ? 'call' : 'calls'}
          {tokens > 0 && `, ${count(tokens)} tokens`}
        </span>
        {failed > 0 && (
          <span className={css['fixed']}>
            <Tag tone="bad">{count(failed)} failed</Tag>
          </span>
        )}
      </button>
      <Bar span={span} scale={scale} tone="iteration" />
    </div>
  );
}

const marks = { open: '○', running: '◐', done: '✓', failed: '✗' } as const;

function PlanLine({ plan: { number, steps } }: { readonly plan: Plan }) {
  return (
    <div className={css['planBox']}>
      <span className={css['quiet']}>Plan {number}</span>
      <ol className={css['planSteps']}>
        {steps.map(({ tool, status }, n) => (
          <li key={n} className={css[status]}>
            <span aria-hidden="true">{marks[status]}</span> {n + 1}. {tool}
            <span className="visually-hidden"> {status}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
