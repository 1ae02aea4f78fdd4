import { QuestionContentError } from '@sluice/run';
import { Refusal } from '../refusal.js';

/** The work's result; throws Refusal for images and files that are not taken. */
export async function refusingContent<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof QuestionContentError)) throw error;
    if (error.problem === 'too_large') throw new Refusal(413, 'too_large', error.message);
    if (error.problem === 'unknown') throw new Refusal(404, 'not_found', error.message);
    throw new Refusal(400, 'invalid_request', error.message);
  }
}
