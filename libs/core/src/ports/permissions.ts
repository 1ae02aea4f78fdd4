/** Whose permissions are looked up: a caller whose credential holds. */
export interface PermissionQuestion {
  readonly tenantId: string;
  /** As the records have it: `user:ann`. */
  readonly actorId: string;
  readonly subjectId: string | null;
}

/** Names as the source has them: groups, or roles where the configuration maps them. */
export interface FoundPermissions {
  readonly groups: readonly string[];
  readonly connections: readonly string[];
}

/**
 * Where permissions come from, if not from the credential. Null where the caller has no record, who then has no group.
 * Throws Fault('identity_unreachable', retryable) where it cannot be found out: that is an outage and no denial.
 */
export interface PermissionSource {
  find(question: PermissionQuestion): Promise<FoundPermissions | null>;
}
