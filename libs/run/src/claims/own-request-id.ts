const form = /^(?:schedule-[\w-]{1,64}-\d{1,16}(?:-[\da-f]{8})?|hook-[\w-]{1,64}-[\da-f]{32})$/;

/**
 * Whether the id is one of a run that a schedule or a hook starts. When a schedule is due next is no secret, so a
 * caller could take the id of its run before it.
 */
export function isOwnRequestId(requestId: string): boolean {
  return form.test(requestId);
}

/** What a caller reads that gives a run such an id. */
export const ownRequestId =
  'The request_id has the form of one that a schedule or a hook starts a run with. Give another one, or leave it out.';
