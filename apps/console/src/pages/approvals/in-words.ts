/** A decision as a verb, to stand before the name of the person. */
export function decided(decision: string): string {
  return (
    { approve: 'approved', refuse: 'refused', expire: 'not decided in time', run: 'run without a decision' }[
      decision
    ] ?? decision
  );
}

export const toneOf = (decision: string): 'good' | 'bad' | 'warn' =>
  decision === 'approve' ? 'good' : decision === 'refuse' ? 'bad' : 'warn';

/** What to do where a decision does not count, by the reason that the gateway gives. */
export const afterwards: Readonly<Record<string, string>> = {
  unknown_approval: 'It may be gone from the log by now. Close this, and read the list again.',
  invalid_arguments: 'Approve it as it is, or refuse it and say in the reason what it should be.',
  invalid_decision: 'This page and the gateway may be of different versions. Load the page again.',
  other_arguments: 'The call that waits has other arguments than those on this page. Close this, and read it again.',
  too_late: 'The call was refused when its time was up, and the run went on without it.',
  not_authenticated: 'Sign in again, and decide once more.',
  not_for_person: 'Decide yourself, or name the service and the person under policy.approval.on_behalf.',
  not_an_approver: 'Ask one of the approvers that the configuration names under policy.approval.',
  own_call: 'Ask another approver, or refuse it.',
  already_decided: 'Nothing is left to decide. Close this to see what was decided.',
};
