import type { IncompleteAnswer } from '@sluice/records';
import { printable } from '../printable.js';
import { cut } from '../well-formed.js';

export type { IncompleteAnswer };

/** Characters of a provider’s word for the end of a turn. */
const finishReasonCharacters = 64;

/** A provider’s word for the end of a turn as records and messages may have it: on one line, and not too long. */
export function finishReasonOf(word: string | null): string {
  return cut(
    printable((word ?? '').toWellFormed())
      .replaceAll(/\s+/g, ' ')
      .trim(),
    finishReasonCharacters,
  );
}

/** Why a text is not a whole answer, as a sentence for the one who reads it. */
export function whyIncomplete({ reason, finishReason }: IncompleteAnswer): string {
  const word = finishReason === '' ? '' : ` (“${finishReason}”)`;
  switch (reason) {
    case 'length':
      return `This is not the whole answer: the model reached its limit of tokens${word}.`;
    case 'filtered':
      return `This is not the whole answer: a content filter or a refusal ended it${word}.`;
    default:
      return `This is not the whole answer: the model’s provider ended it for another reason than a stop${word}.`;
  }
}
