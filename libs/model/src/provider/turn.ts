import { halfWritten, isJsonText } from '@sluice/core';
import type { ModelCall, ModelStep, ModelTurn, RawPart } from '@sluice/core';
import type { CallPart, DecodedTurn, Finish, TurnPart } from '@sluice/wires';
import { withUsableIds } from './call-ids.js';
import type { Faults } from './faults.js';
import { isTooLarge, type Origin, providerData } from './provider-data.js';

/**
 * The turn that a stream amounts to: text beside calls is the thought, text alone the answer. A turn of neither is
 * refused, as is one whose only calls were cut off by the token limit: what such a turn says was not meant as an
 * answer.
 *
 * Whether the provider stands by it says how it ended. A stop, calls, or a complete end without a reason
 * (`finish_missing`) make a whole turn; a turn at the limit of tokens runs its whole calls. Of any other end no call
 * is run, and a text alone is an answer that says why it is not whole. A turn that failed is asked for again.
 */
export function turnOf(
  read: DecodedTurn,
  {
    history,
    origin,
    faults,
  }: { readonly history: readonly ModelStep[]; readonly origin: Origin; readonly faults: Faults },
): ModelTurn {
  const text = textOf(read.parts);
  const made = read.parts.filter((part) => part.type === 'call');
  const data = providerData(read.parts, origin);
  const isDropped = isTooLarge(data);
  const raw = [
    ...read.parts.flatMap((part): RawPart[] =>
      part.type === 'reasoning' || part.type === 'other' ? [{ kind: part.type, payload: part }] : [],
    ),
    // What was skipped, or accepted although it is not as the API has it.
    ...read.notes.map((note): RawPart => ({ kind: note.kind, payload: note })),
    ...(isDropped ? [{ kind: 'provider_data_too_large', payload: null }] : []),
  ];
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens } = read.usage;
  const cached = {
    ...(cachedInputTokens === 0 ? {} : { cachedInputTokens }),
    ...(cacheWriteTokens === 0 ? {} : { cacheWriteTokens }),
  };
  const rest = { inputTokens, outputTokens, ...cached, ...(raw.length === 0 ? {} : { raw }) };
  const { finish, finishAs } = read;
  if (finish === 'error') throw faults.failedTurn(finishAs);
  if (made.length > 0 && !runsCalls.has(finish)) throw faults.unrunCalls(finish === 'filtered', finishAs);
  const calls = finish === 'length' ? withHalfWritten(made) : made;

  const withData = (call: ModelCall, index: number): ModelCall => {
    const own = isDropped ? null : (data[index] ?? null);
    return own === null ? call : { ...call, providerData: own };
  };

  if (calls.some((call) => call.args !== halfWritten)) {
    return { thought: text, calls: withUsableIds(calls, history).map(withData), answer: null, ...rest };
  }
  if (finish === 'length' && (text === '' || calls.length > 0)) throw faults.outOfTokens();
  if (text === '') throw faults.emptyTurn(finish, finishAs);
  const answer = { thought: '', calls: [], answer: finalOf(read.parts) || text, ...rest };
  if (finish === 'stop' || finish === 'calls') return answer;
  const reason = finish === 'length' || finish === 'filtered' ? finish : 'other';
  return { ...answer, incomplete: { reason, finishReason: faults.finishReason(finishAs) } };
}

/** All that a turn says. Messages of their own, as the Responses API has them, are paragraphs of their own. */
function textOf(parts: readonly TurnPart[]): string {
  const texts = parts.filter((part) => part.type === 'text');
  return texts
    .map((part, index) => {
      const before = texts[index - 1];
      const isOther = before !== undefined && part.echo?.fields['id'] !== before.echo?.fields['id'];
      return isOther && before.text !== '' && part.text !== '' ? `\n\n${part.text}` : part.text;
    })
    .join('')
    .trim();
}

/** What of it is the answer, where the provider marks what is not: a commentary on the way is none. */
function finalOf(parts: readonly TurnPart[]): string {
  return textOf(parts.filter((part) => part.type === 'text' && part.echo?.fields['phase'] !== 'commentary'));
}

/** The ends of a turn whose calls are run. */
const runsCalls: ReadonlySet<Finish> = new Set<Finish>(['stop', 'calls', 'length']);

/**
 * The last call of a turn that hit the limit may be half written. Half an argument is no JSON; and where nothing of
 * the arguments was written yet, they are read as `{}`, which looks like a call without arguments. Such a call is not
 * made, and the model is to read why, so it stays in the turn with words in its arguments' place.
 */
function withHalfWritten(calls: readonly CallPart[]): readonly CallPart[] {
  return calls.map((call, index) => {
    const isComplete = isJsonText(call.args) && !(index === calls.length - 1 && isEmpty(call));
    return isComplete ? call : { ...call, args: halfWritten };
  });
}

function isEmpty(call: CallPart): boolean {
  return /^\s*\{\s*\}\s*$/.test(call.args);
}
