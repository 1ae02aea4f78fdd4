import type { JsonObject, JsonValue } from '@sluice/core';
import { sseFrame } from '../../stream/frames.js';
import type { RawEvent } from '../../screen/events.js';
import { addUsage, listAt, objectAt, parsed, type RoundEnd, type Screen, type Screening } from '../../screen/screen.js';

/** A call of the round that runs: which number it has for the client, or none; unknown until its name has come. */
interface Call {
  out: number | 'hidden' | null;
  /** Pieces that came before the name. */
  readonly held: JsonObject[];
}

/** Chat Completions. */
export class ChatScreen implements Screen {
  private isFirst = true;
  /** The head of the first round, which every chunk repeats. */
  private head: JsonObject | null = null;
  private usage: JsonValue | undefined;
  private roundUsage: JsonValue | undefined;
  private calls = new Map<JsonValue, Call>();
  private shown = 0;
  /** How many numbers `reasoning_details` had in former rounds, and the last one of this round. */
  private details = 0;
  private roundDetails = -1;
  private _isHiding = false;
  private end: (Record<string, JsonValue> | string)[] = [];

  constructor(private readonly screening: Screening) {}

  get isHiding(): boolean {
    return this._isHiding;
  }

  event({ raw, data }: RawEvent): readonly Uint8Array[] {
    if (data === null) return [raw];
    const chunk = parsed(data);
    if (chunk === null) {
      if (data.trim() === '[DONE]' && this.isHeld) this.end.push(data);
      else return [raw];
      return [];
    }
    const [choice] = listAt(chunk, 'choices');
    const delta = objectAt(choice, 'delta');
    this.roundDetails = Math.max(this.roundDetails, lastDetail(delta));
    const isEnd = choice?.['finish_reason'] !== undefined && choice['finish_reason'] !== null;
    const usage = objectAt(chunk, 'usage');
    if (this.isFirst && this.head === null && choice !== undefined) this.head = headOf(chunk);
    if (this.isFirst && delta?.['tool_calls'] === undefined && !isEnd && usage === null && !this._isHiding)
      return [raw];
    const had = JSON.stringify(chunk);
    if (delta?.['tool_calls'] !== undefined) this.screenCalls(delta);
    if (usage !== null) {
      this.roundUsage = usage;
      chunk['usage'] = addUsage(this.usage, usage) ?? null;
    }
    if (!this.isFirst) {
      Object.assign(chunk, this.head);
      delete delta?.['role'];
      numberDetails(delta, this.details);
    }
    if (this.isHeld && (isEnd || choice === undefined)) {
      this.end.push(chunk);
      return [];
    }
    if (!isEnd && choice !== undefined && usage === null && isEmpty(delta, this.isFirst)) return [];
    const now = JSON.stringify(chunk);
    return now === had ? [raw] : [sseFrame(now)];
  }

  /** The end of a later round waits until it is kept what the rounds were. */
  private get isHeld(): boolean {
    return this._isHiding || !this.isFirst;
  }

  private screenCalls(delta: Record<string, JsonValue>): void {
    const shown = listAt(delta, 'tool_calls').flatMap((call) => this.screenCall(call));
    if (shown.length === 0) delete delta['tool_calls'];
    else delta['tool_calls'] = shown;
  }

  private screenCall(piece: JsonObject): readonly JsonObject[] {
    const index = piece['index'] ?? 0;
    const call = this.calls.get(index) ?? { out: null, held: [] };
    this.calls.set(index, call);
    if (call.out === null) {
      call.held.push(piece);
      const name = objectAt(piece, 'function')?.['name'];
      if (typeof name !== 'string' || name === '') return [];
      if (name === this.screening.searchTool) {
        call.out = 'hidden';
        this._isHiding = true;
      } else call.out = this.shown++;
      const { out } = call;
      return out === 'hidden' ? [] : call.held.splice(0).map((held) => ({ ...held, index: out }));
    }
    return call.out === 'hidden' ? [] : [{ ...piece, index: call.out }];
  }

  next(): void {
    this.usage = addUsage(this.usage, this.roundUsage);
    this.roundUsage = undefined;
    this.details += this.roundDetails + 1;
    this.roundDetails = -1;
    this.isFirst = false;
    this.calls = new Map();
    this.shown = 0;
    this._isHiding = false;
    this.end = [];
  }

  last({ hasCalls }: RoundEnd): readonly Uint8Array[] {
    return this.end.splice(0).map((held) => {
      if (typeof held === 'string') return sseFrame(held);
      const [choice] = listAt(held, 'choices');
      if (choice?.['finish_reason'] === 'tool_calls' && !hasCalls)
        (choice as Record<string, JsonValue>)['finish_reason'] = 'stop';
      return sseFrame(JSON.stringify(held));
    });
  }
}

function headOf(chunk: JsonObject): JsonObject {
  const names = ['id', 'created', 'system_fingerprint', 'service_tier'];
  return Object.fromEntries(names.flatMap((name) => (chunk[name] === undefined ? [] : [[name, chunk[name]]])));
}

/** Whether nothing is left of a delta that a client would miss. */
function isEmpty(delta: JsonObject | null, isFirst: boolean): boolean {
  return Object.entries(delta ?? {}).every(([, value]) => !isFirst && (value === null || value === ''));
}

/** Clients put the pieces of one number together, so a later round’s numbers follow those of the former. */
function numberDetails(delta: Record<string, JsonValue> | null, before: number): void {
  if (delta === null || delta['reasoning_details'] === undefined || before === 0) return;
  delta['reasoning_details'] = listAt(delta, 'reasoning_details').map((detail) =>
    typeof detail['index'] === 'number' ? { ...detail, index: detail['index'] + before } : detail,
  );
}

function lastDetail(delta: JsonObject | null): number {
  const numbers = listAt(delta, 'reasoning_details').map(({ index }) => (typeof index === 'number' ? index : 0));
  return Math.max(-1, ...numbers);
}
