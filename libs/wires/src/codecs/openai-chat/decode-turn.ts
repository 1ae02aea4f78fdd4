import { faults } from '../../diagnosis.js';
import { object, objects } from '../../json/read.js';
import { TurnBuilder } from '../../turn-builder.js';
import { type DecodedTurn } from '../../types.js';
import { parseWhole } from '../parse-whole.js';
import { ChatAssembler, throwError } from './assembler.js';
import { wire } from './wire.js';

export function decodeTurn(body: string): DecodedTurn {
  const builder = new TurnBuilder(wire);
  const whole = parseWhole(body);
  throwError(whole['error']);
  const [choice] = objects(whole, 'choices', '');
  if (choice === undefined || object(choice, 'message', 'choices[0]') === undefined)
    throw faults.wrongShape('`choices[0].message`');
  const assembler = new ChatAssembler(builder);
  const appended = assembler.event(whole);
  if (appended !== null) builder.append(appended.slot, appended.piece);
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}
