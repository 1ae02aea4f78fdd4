/**
 * Who may do something with topics, and by which name docs/lifecycle.md speaks of it; a service has its consumer
 * group.
 */
export const roles = {
  filter: { group: 'filter', isService: true, called: 'filter' },
  agent: { group: 'agent', isService: true, called: 'agent' },
  executor: { group: 'executor', isService: true, called: 'executor' },
  /** Its own topic too: there it finds its place again should the group's have been lost. */
  audit: { group: 'audit', isService: true, called: 'audit' },
  /**
   * Requests and decisions over HTTP, what it refused, runs for those who asked for them, and lists; each instance
   * reads everything, without a group. A gateway whose operators redrive has the rights of the redriver too, which
   * others do without: it could end runs.
   */
  gateway: { group: null, isService: true, called: 'gateway' },
  /** In front of model APIs; it follows the configuration, and writes down which tools models were shown. */
  proxy: { group: null, isService: true, called: 'proxy' },
  /** Calls of MCP clients, which it follows to their end; each instance reads everything, without a group. */
  mcp: { group: null, isService: true, called: 'mcp' },
  /**
   * Webhooks: it finds what subscriptions are to be sent by its group, and delivers that by a group for each, whose
   * name begins with it.
   */
  notifier: { group: 'notifier', isService: true, called: 'notifier' },
  /** For `sluice audit`. */
  auditor: { group: null, isService: false, called: 'auditors' },
  /** For `sluice config apply`. */
  operator: { group: null, isService: false, called: 'operators' },
  /** For `sluice approvals`, or decisions by other means. */
  approver: { group: null, isService: false, called: 'approvers' },
  /**
   * For `sluice dead-letters`: it writes a dead-lettered record where it came from, and looks there whether it was
   * written.
   */
  redriver: { group: null, isService: false, called: 'operators' },
  /** A system that asks and waits for answers; its own consumer groups are its own affair. */
  upstream: { group: null, isService: false, called: 'your system' },
} as const satisfies Record<string, { group: string | null; isService: boolean; called: string }>;

export type Role = keyof typeof roles;
type RoleWith<Part> = { [R in Role]: (typeof roles)[R] extends Part ? R : never }[Role];
/** The services that take records from the log by a group, one after another. */
export type Handler = Exclude<RoleWith<{ group: string }>, 'audit' | 'notifier'>;
/**
 * The services, each a role of `sluice serve`. Compose file, Helm chart, alert rules and the broker’s
 * access rights are held to this list.
 */
export type ServiceName = RoleWith<{ isService: true }>;
export const services = (Object.keys(roles) as Role[]).filter((role): role is ServiceName => roles[role].isService);
/** Those on the loop move runs on, and end the runs of records that they cannot process. */
export const loopServices = ['filter', 'agent', 'executor'] as const satisfies readonly ServiceName[];
