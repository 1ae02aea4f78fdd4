import type { AssistantStreamChunk } from 'assistant-stream';
import type { AgentStep } from '@sluice/contracts';

type Json = Extract<AssistantStreamChunk, { type: 'data' }>['data'][number];

/** The parts of a run’s calls, by iteration and index in the turn: each is opened once, and closed once, behind its result. */
export class CallParts {
  /** Of calls that have no result yet. */
  readonly #open = new Map<string, number>();
  readonly #seen = new Set<string>();
  readonly #callIds = new Set<string>();

  constructor(private readonly nextPart: () => number) {}

  has(iteration: number, index: number): boolean {
    return this.#seen.has(`${iteration}/${index}`);
  }

  open(
    { iteration, index }: Pick<AgentStep, 'iteration' | 'index'>,
    call: { readonly id: string; readonly tool: string; readonly args: string },
  ): readonly AssistantStreamChunk[] {
    const at = `${iteration}/${index}`;
    if (this.#seen.has(at)) return [];
    this.#seen.add(at);
    // Models number their calls from the start in each turn; within one message a name must mean one call.
    const toolCallId = this.#callIds.has(call.id) ? `${at}/${call.id}` : call.id;
    this.#callIds.add(toolCallId);
    const part = this.nextPart();
    this.#open.set(at, part);
    return [
      { type: 'part-start', path: [], part: { type: 'tool-call', toolCallId, toolName: call.tool } },
      { type: 'text-delta', path: [part], textDelta: call.args },
      { type: 'tool-call-args-text-finish', path: [part] },
    ];
  }

  /** A part is closed by `part-finish`; its result alone does not end it. */
  close(iteration: number, index: number, step: AgentStep): readonly AssistantStreamChunk[] {
    const at = `${iteration}/${index}`;
    const part = this.#open.get(at);
    if (part === undefined) return [];
    this.#open.delete(at);
    const { outcome, reason, observation, state, stateBefore } = step;
    const isError = outcome !== 'ok';
    const artifact = { outcome, reason, state_before: stateBefore, state };
    return [
      { type: 'result', path: [part], result: read(observation), isError, artifact },
      { type: 'part-finish', path: [part] },
    ];
  }

  /** The run is over: of what is open there is no result. */
  closeAll(): readonly AssistantStreamChunk[] {
    const open = [...this.#open.values()];
    this.#open.clear();
    return open.flatMap((part): AssistantStreamChunk[] => [
      { type: 'result', path: [part], result: 'The run ended before this call had a result.', isError: true },
      { type: 'part-finish', path: [part] },
    ]);
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

/** The protocol’s own client drops a chunk that would change the prototype of an object: such a result is sent as text. */
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
