import type { ReactNode } from 'react';
import type { Tone } from '../../../ui/states.js';
import { Tag } from '../../../ui/tag.js';
import { Bar } from './bar.js';
import { CallDetails } from './call-details.js';
import type { CallTimes, RunTimeline } from './model.js';
import type { CallRow, CallStatus } from './row-kinds.js';
import type { TimeScale } from './scale.js';
import css from './timeline.module.css';

interface Props {
  readonly row: CallRow;
  readonly scale: TimeScale | null;
  readonly timeline: RunTimeline;
  readonly question: string | null;
  readonly times: CallTimes;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** Opens another call. */
  readonly onOpen: (name: string) => void;
}

const marks: Readonly<Record<CallStatus, string>> = {
  ...{ waiting: '○', approval: '◷', running: '◐', ok: '✓', failed: '✗' },
};
const words: Readonly<Record<CallStatus, string>> = {
  waiting: 'not begun',
  approval: 'waits for an approval',
  running: 'running',
  ok: 'ok',
  failed: 'failed',
};
const previewCharacters = 160;

/** A call in a line: the tool, how its arguments begin, and how its result or error does. */
export function CallLine({ row, scale, timeline, question, times, isOpen, onToggle, onOpen }: Props) {
  const { call, tool, status } = row;
  const outcome = call.result?.step?.outcome ?? 'failed';
  const reason = call.result?.step?.reason ?? null;
  const state = call.result?.step;
  const preview = call.result === null ? (call.progress ?? '') : textOf(call.result.result);
  return (
    <>
      <div className={css['line']}>
        <button type="button" className={css['fold']} aria-expanded={isOpen} onClick={onToggle}>
          <span className={`${css['mark']} ${css[`${status}Mark`]}`} aria-hidden="true">
            {marks[status]}
          </span>
          <span className="visually-hidden">{words[status]}:</span>
          <code className={css['tool']}>{tool}</code>
          <span className={css['preview']}>{shorten(call.arguments)}</span>
          {state?.edited != null && <Fixed tone="accent">changed by its approver</Fixed>}
          {status === 'failed' && <Fixed tone="bad">{reason ?? outcome}</Fixed>}
          {(status === 'approval' || status === 'running') && <Fixed tone="warn">{words[status]}</Fixed>}
          {preview !== '' && (
            <span className={status === 'failed' ? css['badPreview'] : css['preview']}>→ {shorten(preview)}</span>
          )}
          {state !== null && state !== undefined && state.state !== state.state_before && (
            <Fixed tone="accent">→ {state.state}</Fixed>
          )}
        </button>
        <Bar span={row.span} scale={scale} tone={status === 'failed' ? 'failed' : status === 'ok' ? 'ok' : 'running'} />
      </div>
      {isOpen && <CallDetails row={row} timeline={timeline} question={question} times={times} onOpen={onOpen} />}
    </>
  );
}

/** A tag that keeps its width where previews give way. */
function Fixed({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={css['fixed']}>
      <Tag tone={tone}>{children}</Tag>
    </span>
  );
}

function shorten(text: string): string {
  return text.length > previewCharacters ? `${text.slice(0, previewCharacters)}…` : text;
}

/** The beginning of a result, without writing all of a large one as text. */
function textOf(result: unknown): string {
  if (typeof result === 'string') return result.slice(0, previewCharacters + 1);
  return JSON.stringify(result)?.slice(0, previewCharacters + 1) ?? '';
}
