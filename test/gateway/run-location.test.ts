import { expect, it } from '@jest/globals';
import { locationOfLink, whereIs } from '../../apps/gateway/src/run-location.js';
import type { RunLocation } from '../../apps/gateway/src/run-location.js';

it.each([
  ['1767225600000', 1_767_225_600_000],
  ['2026-01-01T00:00:00Z', 1_767_225_600_000],
  // What brokers take for the newest and the oldest record.
  ['1969-12-31T23:59:59.999Z', 0],
  ['1969-12-31T23:59:59.998Z', 0],
  ['90s', 1_767_312_000_000 - 90_000],
  ['1d', 1_767_225_600_000],
])('a run is looked for from %s on', (since, time) => {
  const now = 1_767_312_000_000;
  const place = locationOfLink({ requestId: 'r', query: { since } }, now);
  expect(place).toEqual({ requestId: 'r', sessionId: 'r', since: time });
  const url = new URL(whereIs(place as RunLocation), 'http://gateway');
  expect(locationOfLink({ requestId: 'r', query: Object.fromEntries(url.searchParams) }, now)).toEqual(place);
});
