import { isJsonObject, isJsonText, type JsonObject } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { writeJson, type Writable } from '../../json/json-text.js';
import { countUnknown, object, objects, text } from '../../json/read.js';
import { endTurn } from '../../finish.js';
import type { Assembler } from '../../stream/decoder.js';
import type { Append } from '../../stream/repeated-shape.js';
import { type Slot, TurnBuilder } from '../../turn-builder.js';
import { type DecodedTurn } from '../../types.js';
import { usageOf } from './usage.js';
import { asContent, reasoningFields } from './wire.js';

const chunkFields = new Set([
  ...[
    'id',
    'object',
    'created',
    'model',
    'choices',
    'usage',
    'system_fingerprint',
    'service_tier',
    'obfuscation',
    'error',
  ],
]);

const choiceFields = new Set(['index', 'delta', 'message', 'finish_reason', 'logprobs']);

const messageFields = new Set([
  ...['role', 'content', 'refusal', 'tool_calls', 'function_call', 'annotations', 'audio'],
  ...['reasoning_content', 'reasoning', 'reasoning_details'],
]);

const callFields = new Set(['index', 'id', 'type', 'function', 'extra_content']);

const functionFields = new Set(['name', 'arguments']);

export function throwError(error: unknown): void {
  if (error === undefined || error === null) return;
  const code = isJsonObject(error) && typeof error['code'] === 'number' ? error['code'] : undefined;
  throw faults.provider(error, code);
}

/** What a delta appends, and whether that is all that it can mean. */
interface Piece extends Append {
  readonly isPure: boolean;
}

/** Assembles the deltas of one stream. Of several choices the first counts: only that is ever asked for. */
export class ChatAssembler implements Assembler {
  /** Calls by the index that the wire gives them. */
  private readonly byIndex = new Map<number, Slot>();
  private text: Slot | null = null;
  private reasoning: Slot | null = null;
  private isDone = false;
  /** Calls came as `tool_calls`, so that a `function_call` repeats one of them. */
  private hasToolCalls = false;

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject): Append | null {
    throwError(event['error']);
    const { builder } = this;
    countUnknown(event, chunkFields, '', builder.notes);
    if (builder.id === '') builder.id = text(event, 'id', '') ?? '';
    if (builder.model === '') builder.model = text(event, 'model', '') ?? '';
    const usage = object(event, 'usage', '');
    if (usage !== undefined) builder.usage = usageOf(usage, builder);
    const [choice] = objects(event, 'choices', '');
    if (choice === undefined) {
      if (usage === undefined && event['choices'] === undefined)
        builder.notes.add('unknown_event', text(event, 'object', '') ?? '');
      return null;
    }
    countUnknown(choice, choiceFields, 'choices[0]', builder.notes);
    const delta = object(choice, 'delta', 'choices[0]');
    const message = object(choice, 'message', 'choices[0]');
    const had = builder.finish;
    endTurn(builder, text(choice, 'finish_reason', 'choices[0]'));
    const appends = delta === undefined ? [] : this.delta(delta);
    const [only] = appends;
    const isOnly = only?.isPure === true && appends.length === 1 && builder.finish === had && usage === undefined;
    if (isOnly && message === undefined) return only;
    for (const { slot, piece } of appends) builder.append(slot, piece);
    if (message !== undefined) this.message(message);
    return null;
  }

  /**
   * A whole message: of an answer that is no stream, or at the end of a stream, where it says again what the deltas
   * said.
   */
  private message(message: JsonObject): void {
    const { builder } = this;
    const said = new ChatAssembler(new TurnBuilder(builder.wire));
    for (const { slot, piece } of said.delta(message, 'choices[0].message')) said.builder.append(slot, piece);
    builder.notes.addAll(said.builder.notes);
    for (const whole of said.builder.slots) {
      const slot = this.counterpart(whole, said.builder) ?? builder.open(whole.type, whole.name, whole.toolCallId);
      if (whole.type === 'text') this.text ??= slot;
      else if (whole.type === 'reasoning') this.reasoning ??= slot;
      builder.whole(slot, whole.text);
      slot.echo ??= whole.echo;
    }
  }

  /**
   * What the deltas made of a part of the whole message: the text, the thought, or the call of its id or at its
   * place.
   */
  private counterpart(whole: Slot, { calls }: TurnBuilder): Slot | null {
    if (whole.type === 'text') return this.text;
    if (whole.type === 'reasoning') return this.reasoning;
    const own = this.builder.calls;
    const byId = whole.toolCallId === '' ? undefined : own.find((call) => call.toolCallId === whole.toolCallId);
    const atPlace = own[calls.indexOf(whole)];
    return byId ?? (atPlace?.name === whole.name ? atPlace : null);
  }

  private delta(delta: JsonObject, at = 'choices[0].delta'): Piece[] {
    const { builder } = this;
    countUnknown(delta, messageFields, at, builder.notes);
    const appends: Piece[] = [];
    const details = delta['reasoning_details'];
    const isPure = details === undefined;
    for (const as of reasoningFields) {
      const piece = text(delta, as, at);
      if (piece === undefined || piece === '') continue;
      const slot = (this.reasoning ??= builder.open('reasoning'));
      slot.echo = { ...slot.echo, as };
      appends.push({ slot, piece, isPure });
      break;
    }
    if (Array.isArray(details) && details.length > 0) {
      const slot = (this.reasoning ??= builder.open('reasoning'));
      const before = slot.echo?.['reasoning_details'];
      slot.echo = { ...slot.echo, reasoning_details: [...(Array.isArray(before) ? before : []), ...details] };
    }
    if (Array.isArray(delta['content'])) appends.push(...this.parts(delta, at));
    else appends.push(...this.said(text(delta, 'content', at), isPure));
    appends.push(...this.said(text(delta, 'refusal', at), isPure));
    const calls = objects(delta, 'tool_calls', at);
    calls.forEach((call, n) => appends.push(...this.call(call, `${at}.tool_calls[${String(n)}]`)));
    this.hasToolCalls ||= calls.length > 0;
    // Some servers write a call in both ways.
    const old = this.hasToolCalls ? undefined : object(delta, 'function_call', at);
    if (old !== undefined) appends.push(...this.call({ index: 0, function: old }, at));
    return appends;
  }

  private said(piece: string | undefined, isPure: boolean): Piece[] {
    return piece === undefined || piece === ''
      ? []
      : [{ slot: (this.text ??= this.builder.open('text')), piece, isPure }];
  }

  /** Content as a list of parts, as Mistral has it: texts, and thoughts that are lists of texts themselves. */
  private parts(delta: JsonObject, at: string): Piece[] {
    const { builder } = this;
    return objects(delta, 'content', at).flatMap((part, n): Piece[] => {
      const path = `${at}.content[${String(n)}]`;
      const type = text(part, 'type', path) ?? '';
      if (type === 'text') return this.said(text(part, 'text', path), false);
      if (type !== 'thinking') {
        builder.notes.add('unknown_block', `content.${type}`);
        return [];
      }
      const piece = Array.isArray(part['thinking'])
        ? objects(part, 'thinking', path)
            .map((each) => text(each, 'text', `${path}.thinking`) ?? '')
            .join('')
        : (text(part, 'thinking', path) ?? '');
      if (piece === '') return [];
      const slot = (this.reasoning ??= builder.open('reasoning'));
      slot.echo = { ...slot.echo, as: asContent };
      return [{ slot, piece, isPure: false }];
    });
  }

  private call(call: JsonObject, at: string): Piece[] {
    const { notes } = this.builder;
    countUnknown(call, callFields, at, notes);
    const of = object(call, 'function', at) ?? {};
    countUnknown(of, functionFields, `${at}.function`, notes);
    const id = text(call, 'id', at) ?? '';
    const name = text(of, 'name', `${at}.function`) ?? '';
    const piece = argumentsIn(of, at);
    const slot = this.slotFor(call['index'], id, name);
    if (slot.toolCallId === '') slot.toolCallId = id;
    if (slot.name === '') slot.name = name;
    const extra = call['extra_content'];
    if (extra !== undefined && extra !== null) slot.echo = { ...slot.echo, extra_content: extra };
    // A name or an id may begin another call.
    return [{ slot, piece, isPure: id === '' && name === '' && extra === undefined }];
  }

  /**
   * Which call a delta belongs to. An index names it, but there are servers that give none, or zero to every call:
   * another id begins another call, and so does another name, or the same name again once the arguments are complete.
   */
  private slotFor(index: unknown, id: string, name: string): Slot {
    const { builder } = this;
    const at = typeof index === 'number' ? index : undefined;
    const current = at === undefined ? builder.calls.at(-1) : this.byIndex.get(at);
    const isAnother =
      current === undefined ||
      (id !== '' && current.toolCallId !== '' && id !== current.toolCallId) ||
      (name !== '' && id === '' && current.name !== '' && (name !== current.name || isJsonText(current.text))) ||
      (at === undefined && id !== '' && current.toolCallId === '' && name !== '');
    if (!isAnother) return current;
    const byId = id === '' || current === undefined ? undefined : builder.calls.find((call) => call.toolCallId === id);
    if (byId !== undefined && name === '') return byId;
    const opened = builder.open('call', name, id);
    if (at !== undefined) this.byIndex.set(at, opened);
    return opened;
  }

  word(data: string): boolean {
    if (data.trim() !== '[DONE]') return false;
    this.isDone = true;
    return true;
  }

  end(): DecodedTurn {
    const { builder } = this;
    if (builder.finish === null) {
      // With its last word the server says that it is done; whether that is all that it meant to say, the arguments
      // tell.
      const isComplete =
        builder.slots.length > 0 && builder.calls.every((call) => call.text === '' || isJsonText(call.text));
      if (!this.isDone || !isComplete) throw faults.cutOff();
      builder.notes.add('finish_missing', '');
    }
    return builder.turn();
  }
}

/** Some servers send the arguments as the object that they are. */
function argumentsIn(of: JsonObject, at: string): string {
  const given = of['arguments'];
  if (isJsonObject(given)) return writeJson(given as Writable);
  return text(of, 'arguments', `${at}.function`) ?? '';
}
