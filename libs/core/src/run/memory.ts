import type { RememberedRun } from '@sluice/records';
import type { MemorySettings } from '../settings/agent-types.js';
import { utf8Length } from '../json.js';
import { cut } from '../well-formed.js';
import { briefAnswer } from './brief-answer.js';
import { bytesPerToken } from './agent-run.js';

export type { RememberedRun };

/** Runs of a session that are kept, and bytes of the answer that is kept of each. */
const keptRuns = 20;
const keptBytes = 16_384;
/** Characters of its question. */
const keptCharacters = 4_096;

/** Bytes of an answer’s first sentences. */
const summaryBytes = 400;

/** What is kept of a run that ended with an answer. */
function keptOf({ requestId, question, answer, endedAt }: RememberedRun): RememberedRun {
  return {
    requestId,
    question: cut(question, keptCharacters),
    answer: briefAnswer(answer, keptBytes),
    endedAt,
  };
}

/**
 * The runs with another one that ended: one that ended again, since its record was handled again, takes its own
 * place.
 */
export function withRun(kept: readonly RememberedRun[], ended: RememberedRun): readonly RememberedRun[] {
  const others = kept.filter(({ requestId }) => requestId !== ended.requestId);
  return [...others, keptOf(ended)].toSorted((one, other) => one.endedAt - other.endedAt).slice(-keptRuns);
}

/**
 * Of the runs that are kept, those that the model of the next run is shown, the oldest first; the newest have room
 * before older ones.
 */
export function recalled(
  kept: readonly RememberedRun[],
  { kind, runs, tokens }: MemorySettings,
): readonly RememberedRun[] {
  const shown: RememberedRun[] = [];
  let left = tokens * bytesPerToken;
  for (const one of kept.slice(-runs).reverse()) {
    const asShown = kind === 'last' ? one : { ...one, answer: firstSentences(one.answer) };
    left -= bytesOf(asShown);
    if (left < 0) break;
    shown.unshift(asShown);
  }
  return shown;
}

/** About how many bytes the model reads of the earlier runs. */
export function memoryBytes({ memory }: { readonly memory: readonly RememberedRun[] | null }): number {
  return (memory ?? []).reduce((sum, one) => sum + bytesOf(one), 0);
}

function bytesOf({ question, answer }: Pick<RememberedRun, 'question' | 'answer'>): number {
  return utf8Length(question) + utf8Length(answer);
}

/** An answer says first what matters: its first two sentences, or as much of them as there is room for. */
function firstSentences(answer: string): string {
  const line = answer.trim().replace(/\s+/g, ' ');
  const [, two = line] = /^((?:.*?[.!?…](?=\s|$)){2})/s.exec(line) ?? [];
  return briefAnswer(two.trim(), summaryBytes);
}
