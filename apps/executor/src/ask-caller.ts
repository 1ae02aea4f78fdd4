import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallAnswers } from '@sluice/hub';
import { CallerForms } from '@sluice/run';
import type { NamedRun, ResumedWith } from '@sluice/run';
import type { Runtime } from '@sluice/host';

type Elicit = NonNullable<CallAnswers['elicit']>;

/** Asks the caller of a run what the named server wants to know; null where no person can be asked. */
export type AskCaller = ((server: string, ...given: Parameters<Elicit>) => ReturnType<Elicit>) | null;

interface Asking {
  readonly server: string;
  readonly form: Parameters<Elicit>[0];
  readonly run: NamedRun;
  /** Who the caller is. */
  readonly by: string;
  /** Aborted at the end of the call. */
  readonly signal: AbortSignal;
  /** Whether this service gives the call up, so that another attempt follows. */
  isGivenUp(): boolean;
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Whether the call is parked once a door shows the form, or at once where its caller has answered one before. */
  readonly mayPark: boolean;
  readonly hasAnswered: boolean;
  /** Which form of the call it is, from 1. */
  readonly number: number;
  /** Of the form that a call goes on behind: its answer is there, or there is none. Null for all others. */
  readonly resumed: Pick<ResumedWith, 'answer'> | null;
  /** Tells the doors that follow the run that there is a question. */
  say(question: string): void;
}

const lookEveryMs = 200;
/** A door that follows the run shows the question at once; where none does, it is not waited for. */
const doorMs = 3_000;
/** What is left of the run’s time behind an answer, for the server’s own answer. */
export const marginMs = 2_000;

/** Puts the question where the door of the caller finds it, and waits for the answer, until the run’s time is up. */
export async function askCaller(
  { server, form, run, by, signal, isGivenUp, until, mayPark, hasAnswered, number, resumed, say }: Asking,
  runtime: Pick<Runtime, 'documents' | 'clock'>,
): ReturnType<Elicit> {
  const { clock } = runtime;
  if (resumed !== null) return resumed.answer === null ? { action: 'cancel' } : said(resumed.answer, by);
  const forms = new CallerForms(runtime);
  const putAs = randomUUID();
  const id = await forms.put(run, { id: putAs, server, ...form, until }, number);
  let isKept = false;
  try {
    say(id);
    const doorUntil = clock.now() + doorMs;
    for (;;) {
      await sleep(lookEveryMs, undefined, { signal });
      const { shown, answer } = await forms.stateOf(run, id);
      if (answer !== null) return said(answer, by);
      const now = clock.now();
      if (mayPark && (shown || hasAnswered)) {
        isKept = true;
        return 'parks';
      }
      if (!shown && now > doorUntil) return { refused: 'No client that shows forms waits for this call.' };
      if (now > until) return { action: 'cancel' };
    }
  } finally {
    // As after a kill, the next attempt takes the question over, or takes it back. The end of a call that goes on does.
    if (!isKept && !isGivenUp()) await forms.forget(run, putAs);
  }
}

function said(answer: NonNullable<ResumedWith['answer']>, by: string): Exclude<Awaited<ReturnType<Elicit>>, 'parks'> {
  return 'refused' in answer ? answer : { ...answer, by };
}
