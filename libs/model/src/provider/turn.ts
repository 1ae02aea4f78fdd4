import { halfWritten } from '@sluice/core';
import type { ModelStep, ModelTurn } from '@sluice/core';
import { withUsableIds } from './call-ids.js';
import type { Faults } from './faults.js';
import type { StreamedTurn, WireCall } from './stream.js';

/**
 * The turn that a stream amounts to: text beside calls is the thought, text alone the answer. A turn of neither is
 * refused, as is one whose only calls were cut off by the token limit: what such a turn says was not meant as an answer.
 * Calls of a turn that a content filter stopped, or that ended with an error, are not run: the provider did not stand by them.
 */
export function turnOf(read: StreamedTurn, history: readonly ModelStep[], faults: Faults): ModelTurn {
  const text = read.text.trim();
  const beside = read.raw.length === 0 ? {} : { raw: read.raw };
  const rest = { inputTokens: read.inputTokens, outputTokens: read.outputTokens, ...beside };
  if (read.calls.length > 0) {
    if (read.finish === 'content-filter') throw faults.filteredCalls();
    if (read.finish === 'error') throw faults.failedTurn();
  }
  const calls = read.finish === 'length' ? withHalfWritten(read) : read.calls;

  if (calls.some((call) => call.arguments !== halfWritten)) {
    return { thought: text, calls: withUsableIds(calls, history), answer: null, ...rest };
  }
  if (read.finish === 'length' && (text === '' || calls.length > 0)) throw faults.outOfTokens();
  if (text === '') throw faults.emptyTurn(read.finish === 'content-filter');
  return { thought: '', calls: [], answer: text, ...rest };
}

/**
 * The last call of a turn that hit the limit may be half written. Half an argument is no JSON; and where nothing of the arguments was
 * written yet, the libraries put `{}`, which looks like a call without arguments. Such a call is not made, and the model is to
 * read why, so it stays in the turn with words in its arguments' place.
 */
function withHalfWritten({ calls, unfinished }: StreamedTurn): readonly WireCall[] {
  const isLast = (index: number): boolean => index === calls.length - 1 && unfinished.length === 0;
  const ended = calls.map((call, index) =>
    isJson(call) && !(isLast(index) && isEmpty(call)) ? call : { ...call, arguments: halfWritten },
  );
  return [...ended, ...unfinished.map((tool) => ({ id: '', tool, arguments: halfWritten }))];
}

function isEmpty(call: WireCall): boolean {
  return /^\s*\{\s*\}\s*$/.test(call.arguments);
}

function isJson(call: WireCall): boolean {
  try {
    JSON.parse(call.arguments);
    return true;
  } catch {
    return false;
  }
}
