import { defaultParkedMs, largestRecord, largestThought, largestMessage } from '@sluice/core';
import { configurationKeys } from './keys.js';
import type { NumberRange, Section } from './section.js';
import type { Limits } from '@sluice/core';

/**
 * How long a run may wait for people, at most: five days. With the longest time of a run beside it that stays within
 * the week for which its records and claims are kept.
 */
export const longestParkedSeconds = 5 * 86_400;

/** Defaults and maxima of `limits`. Which of them go together, roomProblem says. */
export const limitRanges = {
  max_iterations: { byDefault: 10, most: 1_000 },
  run_seconds: { byDefault: 300, most: 86_400 },
  tool_seconds: { byDefault: 30, most: 3_600 },
  model_seconds: { byDefault: 60, most: 3_600 },
  calls_per_turn: { byDefault: 16, most: 128 },
  history_bytes: { byDefault: 524_288, most: 786_432 },
  argument_bytes: { byDefault: 8_192, most: 65_536 },
  result_bytes: { byDefault: 32_768, most: 262_144 },
  parked_seconds: { byDefault: defaultParkedMs / 1_000, most: longestParkedSeconds },
  open_runs: { byDefault: 1_000, most: 1_000_000, least: 0 },
} as const satisfies Record<(typeof configurationKeys.limits)[number], NumberRange>;

/** Runs that a tenant may have open before the doors refuse it another; null for no limit. */
export function mostOpenRuns({ openRuns = limitRanges.open_runs.byDefault }: Limits): number | null {
  return openRuns === 0 ? null : openRuns;
}

/**
 * About what a call that is not made takes on the record, and what the run, its signature and its lists of tools
 * take.
 */
const refusedBytes = 512;
const runBytes = 32_768;

export function readLimits(section: Section): Limits {
  section.closed(configurationKeys.limits);
  const read = (key: keyof typeof limitRanges): number => section.wholeNumber(key, limitRanges[key]);
  const openRuns = read('open_runs');
  const parked = read('parked_seconds');
  const limits = {
    maxIterations: read('max_iterations'),
    runMs: read('run_seconds') * 1_000,
    toolMs: read('tool_seconds') * 1_000,
    modelMs: read('model_seconds') * 1_000,
    callsPerTurn: read('calls_per_turn'),
    historyBytes: read('history_bytes'),
    argumentBytes: read('argument_bytes'),
    resultBytes: read('result_bytes'),
    ...(parked === limitRanges.parked_seconds.byDefault ? {} : { parkedMs: parked * 1_000 }),
    // It decides nothing about a run, so the default changes no version.
    ...(openRuns === limitRanges.open_runs.byDefault ? {} : { openRuns }),
  };
  checkRoom(section, limits);
  return limits;
}

/**
 * The record of a turn holds the history and, twice, the steps of the turn: as they are new, and as the history goes
 * on. Limits under which a history that is not full leaves no room for one call more would only stop runs at odd
 * places.
 */
function checkRoom(section: Section, limits: Limits & { readonly callsPerTurn: number }): void {
  const { historyBytes, argumentBytes, resultBytes, callsPerTurn } = limits;
  const step = argumentBytes + Math.max(resultBytes, largestMessage) + largestThought;
  // As many again may be refused beyond the calls of a turn.
  const beside = runBytes + 2 * step + 4 * callsPerTurn * refusedBytes;
  if (historyBytes + beside <= largestRecord) return;
  const found = `${String(historyBytes)}, which with argument_bytes ${String(argumentBytes)}, result_bytes ${String(resultBytes)} and calls_per_turn ${String(callsPerTurn)} is more than a record of ${String(largestRecord)} bytes can hold: the history, and the steps of a turn twice`;
  section.problem(
    section.at('history_bytes'),
    found,
    `at most ${String(largestRecord - beside)} beside these, or less for the others`,
  );
}
