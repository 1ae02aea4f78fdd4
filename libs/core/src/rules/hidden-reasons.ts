/** Why a tool is not offered, and what is said of it: every reason that holds is named, in this order. */
export const hiddenReasonTexts = {
  group: 'It is in none of the requested groups.',
  state: 'It is not available in this state.',
  policy: 'The policy does not allow it, or names nobody who may approve it.',
  tool_ids: 'The request’s tool_ids leaves it out.',
  budget: 'The run has made all the calls that policy.budgets allows it.',
  connection: 'It needs a connection that the request does not name, or that its sender may not use.',
  unavailable: 'It cannot run: nothing says what it takes.',
  depth: 'It is an agent, and an agent calls no other.',
} as const satisfies Record<string, string>;

export type HiddenReason = keyof typeof hiddenReasonTexts;

export const hiddenReasons = Object.keys(hiddenReasonTexts) as readonly HiddenReason[];
