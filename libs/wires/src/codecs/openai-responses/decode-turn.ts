import { faults } from '../../diagnosis.js';
import { object } from '../../json/read.js';
import { TurnBuilder } from '../../turn-builder.js';
import type { DecodedTurn } from '../../types.js';
import { parseWhole } from '../parse-whole.js';
import { ResponsesAssembler } from './assembler.js';
import { wire } from './wire.js';

export function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  const error = object(whole, 'error', '');
  if (error !== undefined) throw faults.provider(error);
  if (!Array.isArray(whole['output'])) throw faults.wrongShape('`output`');
  const builder = new TurnBuilder(wire);
  new ResponsesAssembler(builder).whole(whole, body);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn(false);
}
