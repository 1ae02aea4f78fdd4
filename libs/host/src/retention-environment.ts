import { allTopics, isTopic, topicEntry } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Variables } from './variables.js';

/** How long a topic’s records are kept at least, and from how many bytes on the oldest may go. */
export interface Kept {
  /** Milliseconds, -1 for ever. */
  readonly ms: number;
  /** Bytes of the whole topic; null for any number. */
  readonly bytes: number | null;
}

export type Retention = Readonly<Record<Topic, Kept>>;

const hour = 3_600_000;
const ageUnits: Readonly<Record<string, number>> = { m: 60_000, h: hour, d: 24 * hour };
const byteUnits: Readonly<Record<string, number>> = { mb: 1024 ** 2, gb: 1024 ** 3, tb: 1024 ** 4 };

/**
 * SLUICE_RETENTION_HOURS for the topics of the loop (default 168 on Kafka, 0 for ever, which is the default of the
 * embedded log), and SLUICE_RETENTION for single ones, as `agent.steps=30d,agent.responses=90d/20gb`. Throws an Error
 * whose sentence says what to write.
 */
export function readRetention(variables: Variables, bus: 'sqlite' | 'kafka'): Retention {
  const hours = variables.integer('SLUICE_RETENTION_HOURS', bus === 'kafka' ? 168 : 0, 0, 1_000_000);
  const loop: Kept = { ms: hours * hour || -1, bytes: null };
  const byClass = { setting: loop, hour: { ms: hour, bytes: null }, 'for ever': { ms: -1, bytes: null } } as const;
  const kept = new Map<Topic, Kept>(allTopics.map((topic) => [topic, byClass[topicEntry(topic).kept]]));
  for (const part of (variables.text('SLUICE_RETENTION') ?? '').split(',').filter((text) => text.trim() !== '')) {
    const [topic, value] = readPart(part.trim());
    kept.set(topic, value);
  }
  return Object.fromEntries(kept) as unknown as Retention;
}

function readPart(part: string): readonly [Topic, Kept] {
  const [, topic = '', age = '', size] = /^([^=]+)=([^/]+)(?:\/(.+))?$/.exec(part) ?? [];
  if (!isTopic(topic))
    throw new Error(
      `SLUICE_RETENTION holds "${part}"; write topic=age or topic=age/size, such as agent.steps=30d/20gb.`,
    );
  if (topic === 'agent.config')
    throw new Error(
      'SLUICE_RETENTION names agent.config, which is kept for ever: every decision names its configuration.',
    );
  const ms = age === 'forever' ? -1 : quantity(age, ageUnits);
  if (ms === null)
    throw new Error(`SLUICE_RETENTION holds "${part}"; an age is forever, or a number of m, h or d, such as 12h.`);
  const bytes = size === undefined ? null : quantity(size.toLowerCase(), byteUnits);
  if (size !== undefined && bytes === null)
    throw new Error(`SLUICE_RETENTION holds "${part}"; a size is a number of mb, gb or tb, such as 20gb.`);
  return [topic, { ms, bytes }];
}

/** Null if it is none. */
function quantity(text: string, units: Readonly<Record<string, number>>): number | null {
  const [, count, unit = ''] = /^([1-9]\d{0,6})([a-z]+)$/.exec(text) ?? [];
  const size = Object.hasOwn(units, unit) ? units[unit] : undefined;
  return count === undefined || size === undefined ? null : Number(count) * size;
}
