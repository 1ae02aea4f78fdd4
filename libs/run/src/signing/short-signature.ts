import type { JsonObject } from '@sluice/core';

/**
 * A record’s signature without what the record says anyway: its claims, which follow from the record, and the
 * signature of its batch, where the writer’s other signature beside it is of the same one.
 */
export function shortened(token: string, beside: string | null): string {
  const [jws = '', sides, hashes] = token.split(separator);
  if (sides !== undefined && hashes !== undefined)
    return [jws === batchIn(beside) ? '' : jws, sides, hashes, ''].join(separator);
  const [header = '', , signature = ''] = jws.split('.');
  return `${header}..${signature}`;
}

/** The token that was shortened, if it is over these claims; null where it was written in another way than that. */
export function lengthened(short: string, beside: string | null, claims: JsonObject): string | null {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const [jws = '', sides, hashes] = short.split(separator);
  const [header = '', , signature = ''] = jws.split('.');
  const token =
    sides === undefined || hashes === undefined
      ? `${header}.${payload}.${signature}`
      : [jws === '' ? (batchIn(beside) ?? '') : jws, sides, hashes, payload].join(separator);
  return shortened(token, beside) === short ? token : null;
}

/** Between the parts of a token of a batch. */
const separator = '~';

/** The signature over the batch that a token is of; null if it is of none. */
function batchIn(token: string | null): string | null {
  const end = token?.indexOf(separator) ?? -1;
  return token === null || end <= 0 ? null : token.slice(0, end);
}
