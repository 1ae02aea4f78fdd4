import { isJsonObject, type JsonObject } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { countUnknown, object, objects, text } from '../../json/read.js';
import { JsonSpan } from '../../json/span.js';
import { endTurn } from '../../finish.js';
import type { Assembler } from '../../stream/decoder.js';
import type { Append } from '../../stream/repeated-shape.js';
import type { Slot, TurnBuilder } from '../../turn-builder.js';
import type { DecodedTurn } from '../../types.js';
import { PartialArguments } from './partial-arguments.js';
import { usageOf } from './usage.js';
import { argsIn } from './wire.js';

const chunkFields = new Set([
  ...[
    'candidates',
    'usageMetadata',
    'modelVersion',
    'responseId',
    'promptFeedback',
    'createTime',
    'error',
    'modelStatus',
  ],
]);

const candidateFields = new Set([
  ...['content', 'finishReason', 'finishMessage', 'index', 'safetyRatings', 'citationMetadata', 'groundingMetadata'],
  ...['tokenCount', 'avgLogprobs', 'logprobsResult', 'urlContextMetadata', 'groundingAttributions'],
]);

const callFields = new Set(['id', 'name', 'args', 'partialArgs', 'willContinue']);

function throwError(event: JsonObject): void {
  const { error } = event;
  if (error === undefined || error === null) return;
  const code = isJsonObject(error) && typeof error['code'] === 'number' ? error['code'] : undefined;
  throw faults.provider(error, code);
}

/**
 * Assembles parts: a text comes in pieces, a call with all its arguments or, where these are streamed, with some of
 * them.
 */
export class GeminiAssembler implements Assembler {
  /** The call whose arguments are coming. */
  private open: { readonly slot: Slot; readonly args: PartialArguments } | null = null;

  constructor(readonly builder: TurnBuilder) {}

  event(event: JsonObject, data: string): Append | null {
    return this.read(event, () => JsonSpan.of(data));
  }

  /** One answer, or one piece of a streamed one; `source` is its text. */
  read(event: JsonObject, source: () => JsonSpan): Append | null {
    throwError(event);
    const { builder } = this;
    countUnknown(event, chunkFields, '', builder.notes);
    if (builder.id === '') builder.id = text(event, 'responseId', '') ?? '';
    if (builder.model === '') builder.model = text(event, 'modelVersion', '') ?? '';
    const usage = object(event, 'usageMetadata', '');
    if (usage !== undefined) builder.usage = usageOf(usage, builder);
    const blocked = text(object(event, 'promptFeedback', '') ?? {}, 'blockReason', 'promptFeedback');
    endTurn(builder, blocked, 'filtered');
    const [candidate] = objects(event, 'candidates', '');
    if (candidate === undefined) {
      if (usage === undefined && blocked === undefined) builder.notes.add('unknown_event', '');
      return null;
    }
    countUnknown(candidate, candidateFields, 'candidates[0]', builder.notes);
    const content = object(candidate, 'content', 'candidates[0]') ?? {};
    const spans = () => source().member('candidates')?.items[0]?.member('content')?.member('parts')?.items ?? [];
    const parts = objects(content, 'parts', 'candidates[0].content');
    const appends = parts.flatMap((part, index) => {
      const appended = this.part(part, () => spans()[index], `candidates[0].content.parts[${String(index)}]`);
      return appended === null ? [] : [appended];
    });
    const reason = text(candidate, 'finishReason', 'candidates[0]');
    if (reason !== undefined) this.finish(reason, text(candidate, 'finishMessage', 'candidates[0]') ?? '');
    const [only] = appends;
    const isOnly = parts.length === 1 && reason === undefined && usage === undefined && only?.slot.isClosed === false;
    if (isOnly) return only;
    for (const { slot, piece } of appends) builder.append(slot, piece);
    return null;
  }

  private part(part: JsonObject, source: () => JsonSpan | undefined, at: string): Append | null {
    const { builder } = this;
    const signature = text(part, 'thoughtSignature', at);
    const piece = text(part, 'text', at);
    if (piece !== undefined) {
      const type = part['thought'] === true ? 'reasoning' : 'text';
      const last = builder.slots.at(-1);
      const slot = last?.type === type && !last.isClosed ? last : builder.open(type);
      if (type === 'reasoning') slot.echo ??= {};
      // A signature ends its part: what follows must not be put before it when it goes back.
      if (signature !== undefined) this.sign(slot, signature);
      return { slot, piece };
    }
    const call = object(part, 'functionCall', at);
    if (call === undefined) {
      const kind = Object.keys(part).find((name) => name !== 'thought' && name !== 'thoughtSignature');
      if (kind !== undefined) builder.other(kind, source()?.source ?? '{}');
      else if (signature !== undefined && builder.slots.length > 0) this.sign(builder.slots.at(-1) as Slot, signature);
      return null;
    }
    const slot = this.call(call, () => source()?.member('functionCall'), `${at}.functionCall`);
    if (signature !== undefined) this.sign(slot, signature);
    return null;
  }

  /** A call with its arguments; one without a name goes on with the call before it, whose arguments come in pieces. */
  private call(call: JsonObject, source: () => JsonSpan | undefined, at: string): Slot {
    const { builder } = this;
    countUnknown(call, callFields, at, builder.notes);
    const name = text(call, 'name', at) ?? '';
    const id = text(call, 'id', at) ?? '';
    const open = this.goesOn(name, id) ? this.open : null;
    if (open === null) this.closeCall(false);
    const slot = open?.slot ?? builder.open('call', name, id);
    if (slot.toolCallId === '') slot.toolCallId = id;
    const args = open?.args ?? new PartialArguments();
    args.add(call, source, at);
    const goesOn = call['willContinue'] === true;
    const whole = object(call, 'args', at);
    if (whole !== undefined && Object.keys(whole).length > 0) {
      const span = source();
      if (span !== undefined) args.whole = argsIn(span);
    }
    if (open !== null || goesOn || call['partialArgs'] !== undefined) {
      this.open = { slot, args };
      if (!goesOn) this.closeCall(true);
    } else slot.text = args.whole ?? '';
    return slot;
  }

  /** Whether a call goes on with the one before it, whose arguments are coming: it may name it again. */
  private goesOn(name: string, id: string): boolean {
    if (this.open === null || name === '') return this.open !== null;
    const { slot } = this.open;
    return name === slot.name && (id === '' || slot.toolCallId === '' || id === slot.toolCallId);
  }

  /** Ends a call whose arguments came in pieces; `isWhole` where the provider said that it is. */
  closeCall(isWhole: boolean): void {
    if (this.open === null) return;
    this.open.slot.text = this.open.args.json(isWhole);
    this.open = null;
  }

  private sign(slot: Slot, thoughtSignature: string): void {
    slot.echo = { ...slot.echo, thoughtSignature };
    slot.isClosed = true;
  }

  private finish(reason: string, message: string): void {
    const { builder } = this;
    if (reason !== 'MALFORMED_FUNCTION_CALL') {
      endTurn(builder, reason);
      return;
    }
    // Calls beside one that Gemini could not read are none that it stands by.
    endTurn(builder, reason, builder.calls.length > 0 ? 'error' : 'calls');
    // What the model wrote is no call that Gemini could read. As a call of what it wrote, the model is shown its
    // mistake.
    const written = message.replace(/^Malformed function call:\s*/i, '');
    builder.open('call', nameOfMalformed(written) ?? 'unknown').text = written === '' ? reason : written;
    builder.notes.add('malformed_call', reason);
  }

  end(): DecodedTurn {
    if (this.builder.finish === null) throw faults.cutOff();
    this.closeCall(false);
    return this.builder.turn(false);
  }
}

/** The models write calls as Python: `print(default_api.find(name='a'))`. */
function nameOfMalformed(written: string): string | undefined {
  return (/default_api\.([A-Za-z_][\w-]*)/.exec(written) ?? /([A-Za-z_][\w-]*)\s*\(/.exec(written))?.[1];
}
