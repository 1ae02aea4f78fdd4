import { isJsonObject } from '@sluice/core';
import { faults } from '../../diagnosis.js';
import { JsonSpan } from '../../json/span.js';
import { TurnBuilder } from '../../turn-builder.js';
import type { DecodedTurn } from '../../types.js';
import { GeminiAssembler } from './assembler.js';
import { wire } from './wire.js';

/** One answer, or the list of pieces that a stream without server-sent events is. */
export function decodeTurn(body: string): DecodedTurn {
  if (/^\s*</.test(body)) throw faults.html();
  let root: JsonSpan;
  try {
    root = JsonSpan.of(body);
  } catch {
    throw faults.notJson('an answer');
  }
  const builder = new TurnBuilder(wire);
  const assembler = new GeminiAssembler(builder);
  const pieces = root.isArray ? root.items : [root];
  let hasCandidates = false;
  for (const piece of pieces) {
    const value: unknown = JSON.parse(piece.source);
    if (!isJsonObject(value)) throw faults.wrongType('the answer', 'an object');
    hasCandidates ||= value['candidates'] !== undefined || value['promptFeedback'] !== undefined;
    const appended = assembler.read(value, () => piece);
    if (appended !== null) builder.append(appended.slot, appended.piece);
  }
  if (!hasCandidates) throw faults.wrongShape('`candidates`');
  assembler.closeCall(false);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn(false);
}
