import type { ListedRun } from '@sluice/client';
import type { Tone } from '../../ui/states.js';
import { Tag } from '../../ui/tag.js';

interface Props {
  readonly run: Pick<ListedRun, 'status' | 'outcome' | 'waiting'>;
}

/** Where a run is, or how it ended, in a word or two. */
export function Outcome({ run }: Props) {
  const { tone, text } = outcomeOf(run);
  return <Tag tone={tone}>{text}</Tag>;
}

export function outcomeOf({ status, outcome, waiting }: Props['run']): { readonly tone: Tone; readonly text: string } {
  if (status === 'running' && waiting !== undefined) return { tone: 'warn', text: 'waits for the model' };
  if (status === 'running') return { tone: 'accent', text: 'running' };
  if (outcome === 'answer') return { tone: 'good', text: 'answer' };
  return { tone: outcome === 'cancelled' ? 'plain' : 'bad', text: outcome ?? 'ended' };
}
