import { faults } from '../../diagnosis.js';
import { objects } from '../../json/read.js';
import { JsonSpan } from '../../json/span.js';
import { TurnBuilder } from '../../turn-builder.js';
import { type DecodedTurn } from '../../types.js';
import { parseWhole } from '../parse-whole.js';
import { MessagesAssembler, throwError } from './assembler.js';
import { wire } from './wire.js';

export function decodeTurn(body: string): DecodedTurn {
  const whole = parseWhole(body);
  throwError(whole);
  if (!Array.isArray(whole['content'])) throw faults.wrongShape('`content`');
  const builder = new TurnBuilder(wire);
  const assembler = new MessagesAssembler(builder);
  assembler.start(whole);
  let items: readonly JsonSpan[] | undefined;
  objects(whole, 'content', '').forEach((block, index) => {
    const source = () => (items ??= JsonSpan.of(body).member('content')?.items ?? [])[index];
    assembler.block(block, source, `content[${String(index)}]`);
  });
  if (builder.finish === null) builder.notes.add('finish_missing', '');
  return builder.turn();
}
