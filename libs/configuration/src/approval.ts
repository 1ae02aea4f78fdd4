import { changingEffects, quote, suggestion, toolEffects, wildcard } from '@sluice/core';
import type { Policy, ToolEffect } from '@sluice/core';
import { formOfPrincipal, principalForm } from './authorization.js';
import { configurationKeys } from './keys.js';
import { longestParkedSeconds } from './limits.js';
import type { Section } from './section.js';

/** How long an approval is waited for. */
const approvalSeconds = { byDefault: 86_400, most: longestParkedSeconds } as const;

type Approval = Pick<
  Policy,
  'approvalEffects' | 'approvalWaived' | 'approvers' | 'approvalMs' | 'requesterMayNotApprove'
>;

/** `policy.approval`: which calls wait for a person, for whom, and for how long. */
export function readApproval(section: Section): Approval {
  section.closed(configurationKeys['policy.approval']);
  const approvalWaived = section.text('none', 'why no call needs an approval, in a sentence');
  for (const key of approvalWaived === null ? [] : (['approvers', 'effects'] as const))
    if (section.has(key))
      section.problem(
        section.at(key),
        'a setting beside `none`',
        'either `none` with the reason, or who approves what',
      );
  const approvers = readApprovers(section);
  const byDefault = approvers.length > 0 ? changingEffects : [];
  return {
    approvalEffects: section.has('effects') ? readEffects(section) : byDefault,
    ...(approvalWaived === null ? {} : { approvalWaived }),
    approvers,
    approvalMs: section.wholeNumber('expires_seconds', approvalSeconds) * 1_000,
    requesterMayNotApprove: section.flag('requester_may_not_approve') ?? false,
  };
}

function readApprovers(section: Section): readonly string[] {
  const names = section.names('approvers', `a list of principals, or \`["*"]\` for everybody`) ?? [];
  names.forEach((name, place) => {
    if (name === wildcard && names.length > 1)
      section.problem(section.at('approvers'), '`*` among other entries', '`*` alone, or the others without it');
    else if (name !== wildcard && !principalForm.test(name))
      section.problem(section.itemAt('approvers', place), `the text ${quote(name)}`, formOfPrincipal);
  });
  return names;
}

/** In the order of the effects' list, so that the order in the file makes no new version. */
function readEffects(section: Section): readonly ToolEffect[] {
  const names = section.names('effects', 'a list of effects, such as `[state_change, external_side_effect]`') ?? [];
  names.forEach((name, place) => {
    if (toolEffects.some((effect) => effect === name)) return;
    section.problem(
      section.itemAt('effects', place),
      `the unknown effect ${quote(name)}`,
      suggestion(name, toolEffects),
    );
  });
  return toolEffects.filter((effect) => names.includes(effect));
}
