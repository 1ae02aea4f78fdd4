import { auditedTopics, runTopics, topics } from './topics.js';
import type { Topic } from './topics.js';

/** What a service may do with the topics: what its access rights must allow, and no more. */
export interface Access {
  readonly reads: readonly Topic[];
  readonly writes: readonly Topic[];
  /** Its consumer group; null for those who read without one. */
  readonly group: string | null;
}

/** All topics that the audit reads, and its own. */
const audited: readonly Topic[] = [...auditedTopics, topics.audit];

/** By who it is. Filter, agent and executor end the runs of records they cannot process, so they write responses and dead letters. */
export const access = {
  filter: {
    // Toolsets and responses without its group: it looks for runs whose time is up, and takes their turns back through agent.steps.
    reads: [
      'agent.requests',
      'agent.steps',
      'agent.cancellations',
      'agent.toolsets',
      'agent.responses',
      'agent.config',
    ],
    writes: ['agent.toolsets', 'agent.steps', 'agent.responses', 'agent.cancellations', 'agent.dead-letters'],
    group: 'filter',
  },
  agent: {
    reads: ['agent.toolsets', 'agent.config'],
    writes: ['agent.tool-calls', 'agent.responses', 'agent.progress', 'agent.discovery', 'agent.dead-letters'],
    group: 'agent',
  },
  executor: {
    // Cancellations without its group: it looks for those of runs that wait for an approval.
    reads: ['agent.tool-calls', 'agent.approvals', 'agent.responses', 'agent.cancellations', 'agent.config'],
    writes: ['agent.steps', 'agent.approvals', 'agent.responses', 'agent.progress', 'agent.dead-letters'],
    group: 'executor',
  },
  /** Its own topic too: there it finds its place again should the group's have been lost. */
  audit: {
    reads: audited,
    writes: ['agent.audit'],
    group: 'audit',
  },
  /**
   * Requests and decisions over HTTP, what it refused, runs for those who asked for them, and lists; each instance reads everything, without a
   * group. A gateway whose operators redrive has the rights of the redriver too, which others do without: it could end runs.
   */
  gateway: {
    reads: [...runTopics, 'agent.progress', 'agent.config', 'agent.audit', 'agent.dead-letters'],
    writes: ['agent.requests', 'agent.approvals', 'agent.cancellations', 'agent.denials'],
    group: null,
  },
  /** In front of model APIs; it follows the configuration, and writes down which tools models were shown. */
  proxy: { reads: ['agent.config'], writes: ['agent.discovery'], group: null },
  /** Calls of MCP clients, which it follows to their end; each instance reads everything, without a group. */
  mcp: {
    reads: [...runTopics, 'agent.progress', 'agent.config'],
    writes: ['agent.requests', 'agent.approvals'],
    group: null,
  },
  /** For `sluice audit`. */
  auditor: {
    reads: audited,
    writes: [],
    group: null,
  },
  /** For `sluice config apply`. */
  operator: { reads: ['agent.config'], writes: ['agent.config'], group: null },
  /** For `sluice approvals`, or decisions by other means. */
  approver: { reads: ['agent.approvals'], writes: ['agent.approvals'], group: null },
  /** For `sluice dead-letters`: it writes a dead-lettered record where it came from, and looks there whether it was written. */
  redriver: {
    reads: ['agent.dead-letters', 'agent.config', ...runTopics],
    writes: runTopics,
    group: null,
  },
  /** A system that asks and waits for answers; its own consumer groups are its own affair. */
  upstream: {
    reads: ['agent.steps', 'agent.responses', 'agent.progress', 'agent.cancellations'],
    writes: ['agent.requests', 'agent.cancellations'],
    group: null,
  },
} as const satisfies Record<string, Access>;

export type Role = keyof typeof access;

/**
 * The services, each a role of `sluice serve`. Those on the loop move runs on, and end the runs of records that they cannot process. Compose
 * file, Kubernetes manifests, alert rules and the broker’s access rights are held to this list.
 */
export const services = [
  'filter',
  'agent',
  'executor',
  'audit',
  'gateway',
  'proxy',
  'mcp',
] as const satisfies readonly Role[];
export type ServiceName = (typeof services)[number];
export const loopServices = ['filter', 'agent', 'executor'] as const satisfies readonly ServiceName[];
