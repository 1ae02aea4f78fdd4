import { allTopics, isTopic } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';

/** Topics by their names, with commas between. */
export function readTopics(text: string): readonly Topic[] {
  return text.split(',').map((name) => {
    if (!isTopic(name)) throw new Error(`There is no topic ${name}. There are: ${allTopics.join(', ')}.`);
    return name;
  });
}

/** A time as milliseconds since the epoch; null if none is given. */
export function readTime(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isSafeInteger(time)) return time;
  throw new Error(
    `${option} is "${text}"; it must be a time such as 2026-11-22T05:00:00Z, or milliseconds since the epoch.`,
  );
}
