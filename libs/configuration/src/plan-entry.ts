import { planToolType } from '@sluice/core';
import { readConfidence } from './confidence-entry.js';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import type { PlanSettings } from '@sluice/core';

/** Of `tool.<tool>.plan`. */
const planRanges = {
  max_plans: { byDefault: 3, most: 20 },
  max_steps: { byDefault: 12, most: 100 },
} as const;

/** `tool.<tool>.plan`: how the plans of runs are taken. Null for other types, where it may not be written. */
export function readPlan(entry: Section, type: string | null): PlanSettings | null {
  if (type !== planToolType) {
    if (type !== null && entry.has('plan'))
      entry.problem(entry.at('plan'), 'a setting of plans', `\`type: ${planToolType}\`, or leave it out`);
    return null;
  }
  const section = entry.section('plan').closed(configurationKeys['tool.<tool>.plan']);
  const confidence = readConfidence(section);
  return {
    approve: section.flag('approve') ?? false,
    maxPlans: section.wholeNumber('max_plans', planRanges.max_plans),
    maxSteps: section.wholeNumber('max_steps', planRanges.max_steps),
    ...(confidence === null ? {} : { confidence }),
  };
}
