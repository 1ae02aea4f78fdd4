import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

export const getCurrentTime = defineTool({
  type: 'get_current_time',
  description:
    'Tell the current date and time as ISO 8601, in UTC or in a given time zone. Example: { "timezone": "Europe/Zurich" }.',
  shortDescription:
    'Find out the current date and time, in UTC or in a time zone, whenever the answer depends on today.',
  input: z.object({
    timezone: z
      .string()
      .max(64)
      .optional()
      .describe('An IANA time zone, for example Europe/Zurich or America/New_York. Left out, the time is in UTC.'),
  }),
  output: z.object({ time: z.string(), timezone: z.string() }),
  effect: 'read_only',
  redaction: { fields: ['time', 'timezone'] },
  capabilities: ['clock'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ timezone = 'UTC' }, _context, { clock }) => {
    const now = new Date(clock.now());
    if (timezone === 'UTC') return { time: now.toISOString().replace(/\.\d+Z$/, 'Z'), timezone };
    return { time: isoIn(timezone, now), timezone };
  },
});

/** The instant as the zone's wall clock shows it, with the offset in force then. */
function isoIn(timezone: string, instant: Date): string {
  const parts = new Map(
    formatter(timezone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}${offset}`;
}

function formatter(timezone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      timeZoneName: 'longOffset',
      hourCycle: 'h23',
      year: 'numeric',
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ToolUserError(
      'There is no time zone of that name. Give an IANA name such as Europe/Zurich, or leave the timezone out for UTC.',
    );
  }
}
