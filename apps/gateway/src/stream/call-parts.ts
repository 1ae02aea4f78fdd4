import { countsOthers } from '@sluice/core';
import type { ShownArguments } from '@sluice/core';
import type { AssistantStreamChunk } from 'assistant-stream';
import { recordToJson } from '@sluice/contracts';
import type { AgentStep } from '@sluice/contracts';

type Json = Extract<AssistantStreamChunk, { type: 'data' }>['data'][number];

interface OpenPart {
  readonly part: number;
  /** As the stream has it. */
  readonly toolCallId: string;
}

/**
 * The parts of a run’s calls, by iteration and index in the turn: each is opened once, and closed once, behind its
 * result. A result comes first as the tool gave it, preliminary, and for good with the record of the turn.
 */
export class CallParts {
  /** Of calls that have no result on record yet. */
  private readonly _open = new Map<string, OpenPart>();
  /** Where a call that is open stands, by iteration and its id in the records. */
  private readonly byId = new Map<string, string>();
  /** Results that came before their calls did. */
  private readonly early = new Map<string, string>();
  private readonly seen = new Set<string>();
  private readonly callIds = new Set<string>();

  constructor(
    private readonly nextPart: () => number,
    private readonly shown: ShownArguments,
  ) {}

  has(iteration: number, index: number): boolean {
    return this.seen.has(`${iteration}/${index}`);
  }

  open(
    { iteration, index }: Pick<AgentStep, 'iteration' | 'index'>,
    call: { readonly id: string; readonly tool: string; readonly args: string },
  ): readonly AssistantStreamChunk[] {
    const at = `${iteration}/${index}`;
    if (this.seen.has(at)) return [];
    this.seen.add(at);
    // Models number their calls from the start in each turn; within one message a name must mean one call.
    const toolCallId = this.callIds.has(call.id) ? `${at}/${call.id}` : call.id;
    this.callIds.add(toolCallId);
    const part = this.nextPart();
    this._open.set(at, { part, toolCallId });
    const id = `${iteration}/${call.id}`;
    this.byId.set(id, at);
    const early = this.early.get(id);
    this.early.delete(id);
    return [
      { type: 'part-start', path: [], part: { type: 'tool-call', toolCallId, toolName: call.tool } },
      { type: 'text-delta', path: [part], textDelta: this.shown(call.tool, call.args) },
      { type: 'tool-call-args-text-finish', path: [part] },
      ...(early === undefined ? [] : this.preliminary(iteration, call.id, early)),
    ];
  }

  /** The id that the stream has for a call without a result on record; null where there is none. */
  openId(iteration: number, callId: string): string | null {
    return this._open.get(this.byId.get(`${iteration}/${callId}`) ?? '')?.toolCallId ?? null;
  }

  /** The result of a call whose turn goes on, as progress has it. */
  preliminary(iteration: number, callId: string, text: string): readonly AssistantStreamChunk[] {
    const at = this.byId.get(`${iteration}/${callId}`);
    if (at === undefined) {
      if (this.early.size < mostEarly) this.early.set(`${iteration}/${callId}`, text);
      return [];
    }
    const open = this._open.get(at);
    const result = open === undefined ? undefined : readResult(text);
    if (open === undefined || result === undefined) return [];
    return [{ type: 'result', path: [open.part], ...result, isPreliminary: true }];
  }

  /** A part is closed by `part-finish`; its result alone does not end it. */
  close(iteration: number, index: number, step: AgentStep): readonly AssistantStreamChunk[] {
    const at = `${iteration}/${index}`;
    const open = this._open.get(at);
    if (open === undefined) return [];
    const { part } = open;
    this._open.delete(at);
    const { outcome, reason, observation, state, stateBefore, rule, facts } = step;
    const isError = outcome !== 'ok';
    const questions = step.questions.map((one) => recordToJson('StepQuestion', one) as Json);
    const edited = step.edited === null ? null : (recordToJson('EditedArguments', step.edited) as Json);
    // What others of the tenant did stands on the log, for its operators.
    const own = Object.fromEntries(Object.entries(facts).filter(([name]) => !countsOthers(name)));
    const artifact = { outcome, reason, rule, state_before: stateBefore, state, questions, edited, facts: own };
    return [
      { type: 'result', path: [part], result: read(observation), isError, artifact },
      { type: 'part-finish', path: [part] },
    ];
  }

  /** The run is over: of what is open there is no result. */
  closeAll(): readonly AssistantStreamChunk[] {
    const open = [...this._open.values()];
    this._open.clear();
    return open.flatMap(({ part }): AssistantStreamChunk[] => [
      { type: 'result', path: [part], result: 'The run ended before this call had a result.', isError: true },
      { type: 'part-finish', path: [part] },
    ]);
  }
}

/** A turn has this many calls at most, and a reader is one turn behind. */
const mostEarly = 256;

/** The result that a piece of progress holds; undefined for one that clients could not take. */
function readResult(text: string): { readonly result: Json; readonly isError: boolean } | undefined {
  try {
    const { ok, result, message } = JSON.parse(text, taken) as { [name: string]: Json };
    const value = typeof result === 'string' ? read(result) : (result ?? null);
    return ok === true ? { result: value, isError: false } : { result: message ?? null, isError: true };
  } catch {
    return undefined;
  }
}

/** What a tool returned, as JSON where it is some that clients take. */
function read(observation: string): Json {
  try {
    return JSON.parse(observation, taken) as Json;
  } catch {
    return observation;
  }
}

/**
 * The protocol’s own client drops a chunk that would change the prototype of an object: such a result is sent as
 * text.
 */
function taken(key: string, value: Json, { source }: { readonly source?: string }): Json {
  // Digits that JavaScript cannot hold go on as they were written.
  if (typeof value === 'number' && source !== undefined && String(value) !== source)
    return JSON.rawJSON(source) as unknown as Json;
  const changes =
    key === '__proto__' || (key === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'));
  if (changes) throw new SyntaxError(`No client takes ${key}.`);
  return value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
