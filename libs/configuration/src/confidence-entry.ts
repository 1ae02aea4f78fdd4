import { confidenceRanges, defaultConfidence } from '@sluice/core';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import type { ConfidenceSettings } from '@sluice/core';

/**
 * Who says how good a result is: the formula of its tool’s kind alone, or the model as well, whose word can only
 * lower it.
 */
const confidenceJudges = ['formula', 'model'] as const;

/** Who may let a plan go on with a result below its threshold. */
const confidenceOverrides = ['model', 'person', 'none'] as const;

type NumberKey = keyof typeof confidenceRanges;

/**
 * `tool.<tool>.plan.confidence`: what steps of plans are held to in runs of the strategy `confidence`; null where
 * nothing is written.
 */
export function readConfidence(plan: Section): ConfidenceSettings | null {
  if (!plan.has('confidence')) return null;
  const section = plan.section('confidence').closed(configurationKeys['tool.<tool>.plan.confidence']);
  const number = (key: NumberKey): number => readNumber(section, key);
  return {
    threshold: number('threshold'),
    retries: number('retries'),
    timeoutMs: section.has('timeout_seconds') ? number('timeout_seconds') * 1_000 : null,
    simplify: section.flag('simplify') ?? defaultConfidence.simplify,
    judge: section.choice('judge', confidenceJudges) ?? defaultConfidence.judge,
    override: section.choice('override', confidenceOverrides) ?? defaultConfidence.override,
    contextTokens: number('context_tokens'),
  };
}

function readNumber(section: Section, key: NumberKey): number {
  const range = confidenceRanges[key];
  if (key !== 'threshold') return section.wholeNumber(key, range);
  const { byDefault, least, most } = range;
  const value = section.value(key);
  if (value === null) return byDefault;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  section.refuse(key, `a number from ${String(least)} to ${String(most)}`);
  return byDefault;
}
