import { runName } from '@sluice/core';
import type { JsonObject, StepQuestion } from '@sluice/core';
import type { NamedRun } from './claims/run-names.js';
import type { RunParts } from './parts.js';

/** A form that the MCP server of a call shows the caller of the run. */
export interface CallerForm {
  /** Names the question within its run. */
  readonly id: string;
  readonly server: string;
  readonly message: string;
  /** A flat object of simple fields, as the protocol has forms. */
  readonly requestedSchema: JsonObject;
  /** Until when an answer counts, milliseconds since the epoch. */
  readonly until: number;
}

type CallerAnswer =
  | { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonObject }
  /** It could not be put to a person, and why. */
  | { readonly refused: string };

/** What a call needs to go on that is parked while its caller has the form. */
interface ParkedWith {
  /** The server’s own state, and the answers that there are. */
  readonly state: JsonObject;
  /** What was asked before, for the call’s step. */
  readonly questions: readonly StepQuestion[];
  /** When the form was asked for, milliseconds since the epoch. */
  readonly askedAt: number;
}

/** What a call goes on with that was parked. */
export interface ResumedWith extends ParkedWith {
  /** Which form of the call it is parked for, from 1. */
  readonly number: number;
  /** The answer to that form; null where there is none. */
  readonly answer: CallerAnswer | null;
}

interface Kept {
  readonly form: CallerForm;
  /** Which form of its call it is, from 1; absent where a former version put it. */
  readonly number?: number;
  /** The id that it had where it was put, which is its asker’s; absent where a former version put it. */
  readonly putAs?: string;
  /** Whether a door shows it. */
  readonly shown: boolean;
  readonly answer: CallerAnswer | null;
  /** Absent for a call that is not parked. The answer, once the call has gone on and asks for another form. */
  readonly parked?: ParkedWith & Partial<Pick<ResumedWith, 'number' | 'answer'>>;
}

type Keeping = Pick<RunParts, 'documents' | 'clock'>;

/**
 * The question of a run’s call, in the ledger’s database while it waits: the executor that runs the call and the door
 * that has the caller need not be one process. One question of a run waits at a time.
 */
export class CallerForms {
  constructor(private readonly parts: Keeping) {}

  /**
   * Puts the question and returns its id. One that an earlier attempt at the call left, whose process ended, is taken
   * over: an equal one keeps its id and its answer, so that the person is not asked twice, and behind any one that is
   * shown the client is still there. `number` says which form of the call it is, from 1: an equal one that the call
   * asks for later is another one.
   */
  async put(run: NamedRun, form: CallerForm, number: number): Promise<string> {
    let { id } = form;
    const next = (kept: Kept | null): Kept => {
      const isEqual = kept !== null && (kept.number ?? number) === number && isSameForm(kept.form, form);
      ({ id } = isEqual ? kept.form : form);
      if (isEqual) return { ...kept, form: { ...form, id }, number, putAs: form.id };
      const shown = kept !== null && kept.shown && kept.answer === null;
      return { form, number, putAs: form.id, shown, answer: null, ...goneOnWith(kept) };
    };
    await this.write(run, next, form.until);
    return id;
  }

  /** Keeps what the call of the question needs to go on. Nothing where the question is gone. */
  async park(run: NamedRun, parked: ParkedWith): Promise<void> {
    await this.write(run, (kept) =>
      kept === null ? undefined : { ...kept, parked: { ...parked, number: kept.number ?? 1 } },
    );
  }

  /** Gives the caller until then to answer. */
  async extend(run: NamedRun, until: number): Promise<void> {
    await this.write(run, (kept) => (kept === null ? undefined : { ...kept, form: { ...kept.form, until } }), until);
  }

  /** What the call that is parked goes on with; null where none is. */
  async parked(run: NamedRun): Promise<ResumedWith | null> {
    const kept = await this.read(run);
    return kept?.parked === undefined ? null : resumedWith(kept, kept.parked);
  }

  /** Takes back what an earlier attempt left: no answer to it counts any more. */
  async withdraw(run: NamedRun): Promise<void> {
    await this.write(run, (kept) => (kept === null ? undefined : null));
  }

  /** The question that waits for an answer; null where none does. */
  async waiting(run: NamedRun): Promise<CallerForm | null> {
    const kept = await this.read(run);
    return kept === null || kept.answer !== null || kept.form.until <= this.parts.clock.now() ? null : kept.form;
  }

  /** Says that a door shows it to the caller. */
  async show(run: NamedRun, id: string): Promise<void> {
    await this.write(run, (kept) => (kept?.form.id === id && !kept.shown ? { ...kept, shown: true } : undefined));
  }

  /** Gives the answer, unless the question waits no more. */
  async answer(run: NamedRun, id: string, answer: CallerAnswer): Promise<void> {
    await this.write(run, (kept) =>
      kept?.form.id === id && kept.answer === null ? { ...kept, shown: true, answer } : undefined,
    );
  }

  /** Whether a door shows the question, and its answer; null while there is none. */
  async stateOf(run: NamedRun, id: string): Promise<Pick<Kept, 'shown' | 'answer'>> {
    const kept = await this.read(run);
    return kept?.form.id === id ? kept : { shown: false, answer: null };
  }

  /** Forgets question and answer, which may be personal; not those that another attempt has taken over. */
  async forget(run: NamedRun, putAs: string): Promise<void> {
    await this.write(run, (kept) => (kept !== null && (kept.putAs ?? kept.form.id) === putAs ? null : undefined));
  }

  private async read(run: NamedRun): Promise<Kept | null> {
    const found = await this.parts.documents.find(keyOf(run));
    return found === undefined ? null : (JSON.parse(found.text) as Kept | null);
  }

  /** Writes what `next` makes of what is there; nothing where that is undefined. */
  private async write(
    run: NamedRun,
    next: (kept: Kept | null) => Kept | null | undefined,
    until = this.parts.clock.now(),
  ): Promise<void> {
    const { documents } = this.parts;
    for (;;) {
      const found = await documents.find(keyOf(run));
      const kept = next(found === undefined ? null : (JSON.parse(found.text) as Kept | null));
      if (kept === undefined) return;
      const mayGo = Math.max(until, found?.expiresAt ?? 0) + keptMs;
      if (await documents.put(keyOf(run), (found?.version ?? 0) + 1, JSON.stringify(kept), mayGo)) return;
    }
  }
}

/** What the call was parked with before it asks for another form: an attempt that follows goes on with it. */
function goneOnWith(kept: Kept | null): Pick<Kept, 'parked'> {
  return kept?.parked === undefined ? {} : { parked: resumedWith(kept, kept.parked) };
}

function resumedWith(
  { number = 1, answer }: Pick<Kept, 'number' | 'answer'>,
  parked: NonNullable<Kept['parked']>,
): ResumedWith {
  const { number: parkedFor = number } = parked;
  return { ...parked, number: parkedFor, answer: parkedFor === number ? answer : (parked.answer ?? null) };
}

function isSameForm(one: CallerForm, other: CallerForm): boolean {
  const said = ({ server, message, requestedSchema }: CallerForm): string =>
    JSON.stringify([server, message, requestedSchema]);
  return said(one) === said(other);
}

/** How long it is kept behind its time. */
const keptMs = 60_000;

const keysOfForms = 'question/';

function keyOf({ requestId, tenant }: NamedRun): string {
  return `${keysOfForms}${runName(requestId, tenant)}`;
}

/** Whether a document is a form with its answer, and what its call goes on with: both may be personal. */
export function isCallerForm(documentKey: string): boolean {
  return documentKey.startsWith(keysOfForms);
}
