import { agreement } from './agreement.ts';
import { deadLetters } from './dead-letters.ts';
import { effects } from './effects.ts';
import { ends } from './ends.ts';
import { lists } from './lists.ts';
import type { Observed } from './observed.ts';
import { order } from './order.ts';
import { standstill } from './standstill.ts';
import { steps } from './steps.ts';
import { webhooks } from './webhooks.ts';
import { turns } from './turns.ts';

/** Each promise that was broken, as a sentence (docs/guarantees.md). Pure: what is judged was read before. */
export function violations(observed: Observed): readonly string[] {
  const { committed, found, asked, spoiled } = observed;
  return [
    ...ends(observed),
    ...steps(observed),
    ...turns(observed),
    ...lists(observed),
    ...order(observed),
    ...effects(observed),
    ...deadLetters(observed),
    ...webhooks(observed),
    ...standstill(observed),
    ...agreement({ before: committed, found, after: committed, asked, spoiled }),
  ];
}
