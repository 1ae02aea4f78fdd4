/** What was made of a shared value, by what made it. */
type Made = Map<unknown, unknown>;

const records = new WeakMap<object, Made>();
const parts = new WeakMap<object, Made>();

/** The value, frozen with all that is in it. */
export function deepFrozen<T extends object>(value: T): T {
  // What is frozen was frozen whole, such as a step that a record before had too.
  if (ArrayBuffer.isView(value) || Object.isFrozen(value)) return value;
  for (const member of Object.values(value) as unknown[])
    if (typeof member === 'object' && member !== null) deepFrozen(member);
  return Object.freeze(value);
}

/** Where records of the loop have the records that go on to the next one, and that signatures are over. */
const partNames = ['request', 'next', 'run'] as const;

type WithParts = Partial<Readonly<Record<(typeof partNames)[number], unknown>>>;

/**
 * Freezes a record that several readers of the process get, so that what is made of it or of its request and run, such
 * as a digest, can be kept with the object. `same` is a shared record that says the same but for signatures, such as
 * the one that it was written from: what was made of that is found with this one too.
 */
export function shareRecord<T extends object>(record: T, same?: T): T {
  deepFrozen(record);
  if (!records.has(record)) records.set(record, (same && records.get(same)) ?? new Map());
  for (const name of partNames) {
    const part = (record as WithParts)[name];
    if (!isRecord(part) || parts.has(part)) continue;
    const known = (same as WithParts | undefined)?.[name];
    parts.set(part, (isRecord(known) ? parts.get(known) : undefined) ?? new Map());
  }
  return record;
}

/** What was made of the record without its signatures; undefined where it is not shared, so that nothing is kept. */
export function madeOfRecord(record: object): Made | undefined {
  return records.get(record);
}

/** The same of a request or a run in a shared record. */
export function madeOfPart(part: object): Made | undefined {
  return parts.get(part);
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
