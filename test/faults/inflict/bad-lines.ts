import { setTimeout as sleep } from 'node:timers/promises';
import type { Inflict } from './fault.ts';

/** The lines to Kafka, to the database, to the model, to the tool’s server and to
 * the receiver of webhooks are cut, held up, refused and slowed. */
export const badLines: Inflict = async (
  { infrastructure: { brokers, database }, model, effects, receiver, say },
  random,
) => {
  const lines = [
    { name: 'Kafka', line: random.pick(brokers).line },
    { name: 'the database', line: database.line },
    { name: 'the model', line: model.line },
    { name: 'the tool', line: effects.line },
    { name: 'the receiver', line: receiver.line },
  ];
  const faults = lines.flatMap((one) =>
    (['cut', 'cut', 'hold', 'refuse', 'slow'] as const).map((how) => ({ ...one, how })),
  );
  for (const { name, line, how } of random.shuffled(faults)) {
    await sleep(random.between(200, 1_000));
    say(`  ${how} the line to ${name}`);
    if (how === 'cut') line.cut();
    else if (how === 'hold') line.hold();
    else if (how === 'refuse') line.refuse();
    else line.slow(random.between(5, 60));
    await sleep(how === 'cut' ? 0 : random.between(1_000, 7_000));
    line.resume();
  }
};
