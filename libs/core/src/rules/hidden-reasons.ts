import type { ToolErrorReason } from '../errors.js';

/** Why a tool is not offered, and what is said of it: every reason that holds is named, in this order. */
export const hiddenReasonTexts = {
  group: 'It is in none of the requested groups.',
  state: 'It is not available in this state.',
  policy: 'The policy does not allow it, or names nobody who may approve it.',
  tool_ids: 'The request’s tool_ids leaves it out; resources and prompts of MCP servers have to be named there.',
  budget: 'The run has made all the calls that policy.budgets allows it.',
  connection: 'It needs a connection that the request does not name, or that its sender may not use.',
  unavailable: 'It cannot run: nothing says what it takes.',
  depth: 'It is an agent, and the run is itself as deep within agents’ calls as policy.agent_depth allows.',
  context: 'A rule closes it for requests such as this one.',
  time: 'A rule closes it at this time.',
  load: 'A rule closes it under the load of this moment.',
  history: 'A rule closes it after what the run did so far, or before what it has yet to do.',
  strategy: 'It takes plans, and the run works without one.',
} as const satisfies Record<string, string>;

export type HiddenReason = keyof typeof hiddenReasonTexts;

export const hiddenReasons = Object.keys(hiddenReasonTexts) as readonly HiddenReason[];

/**
 * What a call of a tool that is hidden for this reason alone is refused with. Admission (`tool/admission.ts`) and the
 * connection stage decide; a test makes such a call for each. `grant_invalid` is the answer where nothing but the
 * turn's offer leaves the tool out.
 */
export const refusalOfHidden: Readonly<Record<HiddenReason, ToolErrorReason>> = {
  group: 'not_eligible_group',
  state: 'not_eligible_state',
  policy: 'not_allowed',
  tool_ids: 'grant_invalid',
  budget: 'budget_used',
  connection: 'connection_not_allowed',
  unavailable: 'not_bound',
  depth: 'nested_agent',
  context: 'closed_by_context',
  time: 'closed_by_time',
  load: 'closed_by_load',
  history: 'closed_by_history',
  strategy: 'grant_invalid',
};
