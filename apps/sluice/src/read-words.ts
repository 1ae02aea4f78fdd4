import { allTopics, isTopic } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';

/** Topics by their names, with commas between. */
export function readTopics(text: string): readonly Topic[] {
  return text.split(',').map((name) => {
    if (!isTopic(name)) throw new Error(`There is no topic ${name}. There are: ${allTopics.join(', ')}.`);
    return name;
  });
}

const date = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;
/** Fewer digits are a year or a slip, and not milliseconds of any time that a log knows. */
const milliseconds = /^\d{12,}$/;

/** A date, with or without a time of day, as milliseconds since the epoch; NaN for what is none. */
export function readDate(text: string): number {
  const [, day] = date.exec(text) ?? [];
  if (day === undefined) return NaN;
  // Date.parse takes the 30th of February for a day in March.
  const noon = Date.parse(`${day}T12:00Z`);
  const isThere = !Number.isNaN(noon) && new Date(noon).toISOString().startsWith(day);
  return isThere ? Date.parse(text) : NaN;
}

/** A time as milliseconds since the epoch; null if none is given. */
function readTime(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = milliseconds.test(text) ? Number(text) : readDate(text);
  if (Number.isSafeInteger(time)) return time;
  throw new Error(
    `${option} is "${text}"; it must be a time such as 2026-11-22T05:00:00Z, or milliseconds since the epoch.`,
  );
}

/** Both ends of a range, which has to hold something: `to` is not included. */
export function readRange({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }): {
  readonly from: number | null;
  readonly to: number | null;
} {
  const range = { from: readTime('--from', from), to: readTime('--to', to) };
  if (range.from !== null && range.to !== null && range.to <= range.from)
    throw new Error(`--to is "${to}", which is not after --from "${from}", so there is nothing between them.`);
  return range;
}
