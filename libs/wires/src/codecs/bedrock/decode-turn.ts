import { type JsonObject, type JsonValue } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { endTurn } from '../../finish.js';
import { object, objects, text } from '../../json/read.js';
import { JsonSpan } from '../../json/span.js';
import { TurnBuilder } from '../../turn-builder.js';
import { type DecodedTurn } from '../../types.js';
import { parseWhole } from '../parse-whole.js';
import { usageOf } from './usage.js';
import { wire } from './wire.js';

export function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  const message = object(object(whole, 'output', '') ?? {}, 'message', 'output');
  if (message === undefined) {
    if (typeof whole['message'] === 'string' || whole['__type'] !== undefined) throw faults.provider(whole);
    throw faults.wrongShape('`output.message`');
  }
  const builder = new TurnBuilder(wire);
  const items = JsonSpan.of(body).member('output')?.member('message')?.member('content')?.items ?? [];
  objects(message, 'content', 'output.message').forEach((block, index) => {
    wholeBlock(builder, block, items[index], `output.message.content[${String(index)}]`);
  });
  endTurn(builder, text(whole, 'stopReason', ''));
  builder.usage = usageOf(object(whole, 'usage', ''), builder);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}

function wholeBlock(builder: TurnBuilder, block: JsonObject, span: JsonSpan | undefined, at: string): void {
  const said = text(block, 'text', at);
  const use = object(block, 'toolUse', at);
  const reasoning = object(block, 'reasoningContent', at);
  if (said !== undefined) builder.open('text').text = said;
  else if (use !== undefined) {
    const slot = builder.open('call', text(use, 'name', at) ?? '', text(use, 'toolUseId', at) ?? '');
    slot.text = span?.member('toolUse')?.member('input')?.source ?? '';
  } else if (reasoning !== undefined) {
    const thought = object(reasoning, 'reasoningText', at);
    const slot = builder.open('reasoning');
    slot.text = (thought && text(thought, 'text', at)) ?? '';
    const echo: Record<string, JsonValue> = {};
    const signature = thought && text(thought, 'signature', at);
    const redacted = text(reasoning, 'redactedContent', at);
    if (signature !== undefined) echo['signature'] = signature;
    if (redacted !== undefined) echo['redactedContent'] = redacted;
    slot.echo = echo;
  } else builder.other(Object.keys(block)[0] ?? 'block', span?.source ?? '{}');
}
