import { type Digest, type JsonObject, type JsonValue, isJsonObject } from '../json.js';
import type { AgentRun } from '../run/agent-run.js';
import type { Step } from '../run/step.js';
import { WeakMemory } from '../weak-memory.js';

/** What the agent adds to on a run’s way from the filter to the executor; everything else is covered by the grant. */
const ownedByAgent = new Set(['inputTokens', 'outputTokens']);
/** The history is written for itself. */
const apart = new Set(['history']);

/**
 * A digest over a request and its run as they go on: whoever changes anything of them breaks the signature that names it. Null counts
 * as absent, so that a field added later changes no digest where it is not set, and versions can run side by side.
 */
export function digestOfRun(request: { readonly history: readonly Step[] }, run: object, digest: Digest): string {
  const { history } = request;
  const text = historyText(history) + canonical(request, apart) + canonical(run, ownedByAgent);
  // JSON writes half a surrogate pair as an escape; on the wire it becomes another character, and so it does here.
  if (!text.includes('\\ud')) return digest(text);
  const whole = essence(history) as unknown as readonly Step[];
  return digest(
    JSON.stringify(whole.map(ordered)) + canonical(essence(request), apart) + canonical(essence(run), ownedByAgent),
  );
}

const historyTexts = new WeakMap<readonly Step[], string>();

/** A history is most of a record, and what the executor signed of it is what the filter grants next: its text is made once. */
function historyText(history: readonly Step[]): string {
  let text = historyTexts.get(history);
  if (text === undefined) historyTexts.set(history, (text = JSON.stringify(history.map(ordered))));
  return text;
}

/** A value of a record as it is after the wire: without what is absent, and texts as UTF-8 carries them, which splits no surrogate pair. */
export function essence(value: unknown): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(essence);
  if (typeof value !== 'object' || value === null) return null;
  const members: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member !== null && member !== undefined) members[name.toWellFormed()] = essence(member);
  }
  return members;
}

/**
 * Steps are most of a record, so they are written in one go, in one order of keys; the type sees to it that none is left out. A result’s
 * hash is for the audit alone and means nothing in a history.
 */
function ordered(step: Step): Record<Exclude<keyof Step, 'resultHash'>, unknown> {
  return {
    thought: step.thought,
    action: step.action,
    arguments: step.arguments,
    observation: step.observation,
    outcome: step.outcome,
    reason: step.reason ?? undefined,
    stateBefore: step.stateBefore,
    state: step.state,
    toolCallId: step.toolCallId,
    iteration: step.iteration,
    index: step.index,
    startedAt: step.startedAt,
    endedAt: step.endedAt,
    agentRun: orderedRun(step.agentRun ?? null),
  };
}

function orderedRun(run: AgentRun | null): AgentRun | undefined {
  if (run === null) return undefined;
  const { requestId, inputTokens, outputTokens } = run;
  return { requestId, inputTokens, outputTokens };
}

/** JSON text with sorted keys, without what is absent or named; lists of names, which can be long, in one go. */
function canonical(value: unknown, without?: ReadonlySet<string>): string {
  const pieces: string[] = [];
  write(pieces, value, without);
  return pieces.join('');
}

/** Joined in one go: a text that grows piece by piece leaves as many texts behind. */
function write(pieces: string[], value: unknown, without?: ReadonlySet<string>): void {
  // Most of a run: neither needs more than this, and so costs no more.
  if (typeof value === 'string') pieces.push(JSON.stringify(value));
  else if (Number.isFinite(value)) pieces.push(String(value));
  else if (Array.isArray(value)) writeList(pieces, value);
  else if (isJsonObject(value)) writeMembers(pieces, value, without);
  else pieces.push(JSON.stringify(value) ?? 'null');
}

/** Of lists that do not change any more: what the rules give to all decisions of the same groups and state is written once. Weighed in characters. */
const textsOfFrozen = new WeakMemory<readonly unknown[], string>(4_194_304);
/** Shorter lists cost little to write, and most are made for one request. */
const worthKeeping = 8;

function writeList(pieces: string[], items: readonly unknown[]): void {
  const isKept = items.length >= worthKeeping && Object.isFrozen(items);
  const known = isKept ? textsOfFrozen.find(items) : undefined;
  if (known !== undefined) {
    pieces.push(known);
    return;
  }
  if (items.every((item) => typeof item === 'string')) {
    const text = JSON.stringify(items);
    pieces.push(isKept ? textsOfFrozen.keep(items, text, text.length) : text);
    return;
  }
  items.forEach((item, n) => {
    pieces.push(n === 0 ? '[' : ',');
    write(pieces, item);
  });
  pieces.push(']');
}

function writeMembers(pieces: string[], value: JsonObject, without?: ReadonlySet<string>): void {
  let isFirst = true;
  for (const { name, first, later } of sortedNames(value)) {
    const member = value[name];
    if (member === null || member === undefined || without?.has(name)) continue;
    pieces.push(isFirst ? first : later);
    isFirst = false;
    write(pieces, member);
  }
  pieces.push(isFirst ? '{}' : '}');
}

interface Shape {
  readonly names: readonly string[];
  /** With what stands before its value, in the first place and in a later one. */
  readonly sorted: readonly { readonly name: string; readonly first: string; readonly later: string }[];
}

/** Records of a type have the same names each time, so that they are sorted and quoted once: by the first of them, since that finds most. */
const shapes = new Map<string, Shape>();
/** There are about ten; names that nobody knows before, as those of a map are, must not pile up. */
const shapesKept = 64;

function sortedNames(value: object): Shape['sorted'] {
  const names = Object.keys(value);
  const [first] = names;
  if (first === undefined) return [];
  const known = shapes.get(first);
  if (known !== undefined && isSame(known.names, names)) return known.sorted;
  const sorted = names.toSorted().map((name) => {
    const quoted = JSON.stringify(name);
    return { name, first: `{${quoted}:`, later: `,${quoted}:` };
  });
  if (shapes.size >= shapesKept) shapes.clear();
  shapes.set(first, { names, sorted });
  return sorted;
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  if (names.length !== others.length) return false;
  for (let n = 0; n < names.length; n++) if (names[n] !== others[n]) return false;
  return true;
}
