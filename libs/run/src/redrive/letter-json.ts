import { recordNames, recordToJson } from '@sluice/contracts';
import { withoutCredentials } from '@sluice/bus';
import type { Letter } from './letters.js';
import type { Permit } from './permit.js';

/** A letter, and who re-drove it and when; null if it was not re-driven. */
export interface ShownLetter {
  readonly letter: Letter;
  readonly redriven: Permit | null;
}

/** A letter for machines; of bytes that cannot be read, why. */
export function letterJson({ letter, redriven }: ShownLetter): Readonly<Record<string, unknown>> {
  const { id, dead, session, content } = letter;
  const { topic, partition, offset, group, key, timestamp, code, reason, attempts, failedAt } = dead;
  const record = content.topic === null ? null : recordToJson(recordNames[content.topic], content.record);
  const shown = {
    id,
    ...{ topic, partition, offset, group, key, session, timestamp, code, reason, attempts, failed_at: failedAt },
    headers: withoutCredentials(dead.headers),
    redriven: redriven === null ? null : { by: redriven.by, at: redriven.at },
    record,
    unreadable: content.topic === null ? content.reason : null,
  };
  return JSON.parse(hideSecrets(JSON.stringify(shown))) as Readonly<Record<string, unknown>>;
}

/** What is shown must be of no use to a reader: neither a credential that stands where it should not, nor a grant. */
export function hideSecrets(text: string): string {
  return (
    text
      // Each takes time in proportion to the text, which any caller may have written.
      .replaceAll(/(\b[a-z][a-z\d+.-]{0,31}:\/\/)[^\s/@:]*:[^\s/@]*@/gi, '$1(hidden)@')
      .replaceAll(/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer (hidden)')
      // One signature may cover several records: each then carries its own content and its place behind it.
      // Those of records have no claims between the dots: these follow from the record.
      .replaceAll(
        /(?<![\w-])(?=[\w-]+\.[\w-]*\.)([\w-]*?)\beyJ[\w-]*\.[\w-]*\.[\w-]*(?:~[\w.~-]*)?/g,
        '$1(signature, hidden)',
      )
  );
}
