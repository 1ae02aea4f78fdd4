import { modelName, tokenSum, whyIncomplete } from '@sluice/core';
import type { JsonObject, ModelSettings, ModelTurn } from '@sluice/core';
import type { ReservedModelCall } from '@sluice/run';
import { answerChecker } from '@sluice/tools';

/** A turn, what stood in the budgets with a span before it, and the reminder that it is the reply to. */
export interface Reply {
  readonly turn: ModelTurn;
  readonly budgets: ReservedModelCall['budgets'];
  readonly reminder: string | null;
  /** The answer as JSON text, where it has to fit a schema. */
  readonly structured: string | null;
}

/** How often a model is asked again for an answer that fits. */
const mostAgain = 2;

/** No answer of the model fits the schema: no model is asked after that. */
export class AnswerInvalid extends Error {
  constructor(
    readonly settings: ModelSettings,
    /** With the tokens of all replies. */
    readonly turn: ModelTurn,
    faults: readonly string[],
  ) {
    const cut = turn.incomplete === undefined ? '' : ` ${whyIncomplete(turn.incomplete)}`;
    super(`The model ${modelName(settings)} gave no answer that fits the answer schema: ${faults.join('; ')}.${cut}`);
  }
}

/**
 * The reply with an answer that fits the schema, or with calls: a model that answers otherwise is asked again with
 * what is wrong. Throws AnswerInvalid.
 */
export async function heldAnswer(
  schema: JsonObject,
  settings: ModelSettings,
  first: Reply,
  askAgain: (reminder: string) => Promise<Pick<Reply, 'turn' | 'budgets'>>,
): Promise<Reply> {
  const check = answerChecker(schema);
  let reply = first;
  for (let again = 0; ; again += 1) {
    const { turn } = reply;
    if (turn.answer === null) return reply;
    const checked = check(turn.answer);
    if ('structured' in checked) return { ...reply, structured: checked.structured };
    if (again === mostAgain) throw new AnswerInvalid(settings, turn, checked.faults);
    const reminder = reminderOf(checked.faults);
    const { turn: next, budgets } = await askAgain(reminder);
    // The tokens of all replies are the turn’s.
    reply = { turn: { ...next, ...tokenSum(next, turn) }, budgets, reminder, structured: null };
  }
}

function reminderOf(faults: readonly string[]): string {
  const listed = faults.map((fault) => `- ${fault}`).join('\n');
  return `Your last answer was not taken, since it does not fit the JSON Schema:\n${listed}\nAnswer again, with JSON alone that fits it.`;
}
