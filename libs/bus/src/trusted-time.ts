/**
 * When the log took a record, for what decides about rights: whether a credential, an approval or the time before
 * there were keys counts. Where a topic leaves the time to producers, it is the time at which the record was read,
 * because a producer could write a time in the past.
 */
export function trustedTimeOf({
  timestamp,
  readAt,
}: {
  readonly timestamp: number;
  readonly readAt?: number | undefined;
}): number {
  return readAt ?? timestamp;
}
