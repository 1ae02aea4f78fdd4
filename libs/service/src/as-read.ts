import { canonicalJson, wellFormed } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { sha256 } from '@sluice/contracts';

/** A digest over a record as the log gives it back: the same before it was written and after, also where a later version adds members. */
export function digestAsRead(record: object): string {
  const text = JSON.stringify(wellFormed(record), (_, value: unknown) => asRead(value));
  return sha256(canonicalJson(JSON.parse(text) as JsonValue));
}

/** Without what says nothing, such as a member that a later version adds. */
function asRead(value: unknown): unknown {
  const saysNothing = value === null || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);
  return saysNothing ? undefined : value;
}
