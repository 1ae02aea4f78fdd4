import type {
  AccessDenial,
  AgentProgress,
  AgentRequest,
  AgentResponse,
  AgentStepResult,
  Approval,
  AuditRecord,
  Cancellation,
  ConfigVersion,
  DeadLetter,
  DiscoveryRecord,
  Toolset,
  ToolCall,
} from '@sluice/records';

/** The record of each topic. */
export interface TopicRecords {
  'agent.requests': AgentRequest;
  'agent.toolsets': Toolset;
  'agent.tool-calls': ToolCall;
  'agent.steps': AgentStepResult;
  'agent.responses': AgentResponse;
  'agent.progress': AgentProgress;
  'agent.approvals': Approval;
  'agent.audit': AuditRecord;
  'agent.dead-letters': DeadLetter;
  'agent.config': ConfigVersion;
  'agent.discovery': DiscoveryRecord;
  'agent.denials': AccessDenial;
  'agent.cancellations': Cancellation;
}

export type Topic = keyof TopicRecords;
export type RecordOf<T extends Topic> = TopicRecords[T];

/** The topics by what they carry; the values are the names on the wire. */
export const topics = {
  requests: 'agent.requests',
  toolsets: 'agent.toolsets',
  toolCalls: 'agent.tool-calls',
  steps: 'agent.steps',
  responses: 'agent.responses',
  progress: 'agent.progress',
  approvals: 'agent.approvals',
  audit: 'agent.audit',
  deadLetters: 'agent.dead-letters',
  config: 'agent.config',
  discovery: 'agent.discovery',
  denials: 'agent.denials',
  cancellations: 'agent.cancellations',
} as const satisfies Record<string, Topic>;

/** The topics that tell a run’s story, from its first Toolset to its end. */
export const storyTopics = [
  topics.toolsets,
  topics.toolCalls,
  topics.approvals,
  topics.steps,
  topics.responses,
] as const;

/** The topics that have all that stays of a run: text and progress are on the log for a short time, and say nothing that these do not. */
export const runTopics = [topics.requests, ...storyTopics] as const;

/** The topics whose records the audit has an entry for. */
export const auditedTopics = [
  ...runTopics,
  topics.deadLetters,
  topics.config,
  topics.discovery,
  topics.denials,
  topics.cancellations,
] as const;

/** The Avro record of each topic, by the name it has in schemas/. */
export const recordNames = {
  'agent.requests': 'AgentRequest',
  'agent.toolsets': 'Toolset',
  'agent.tool-calls': 'ToolCall',
  'agent.steps': 'AgentStepResult',
  'agent.responses': 'AgentResponse',
  'agent.progress': 'AgentProgress',
  'agent.approvals': 'Approval',
  'agent.audit': 'AuditRecord',
  'agent.dead-letters': 'DeadLetter',
  'agent.config': 'ConfigVersion',
  'agent.discovery': 'DiscoveryRecord',
  'agent.denials': 'AccessDenial',
  'agent.cancellations': 'Cancellation',
} as const satisfies Record<Topic, string>;

export const allTopics = Object.keys(recordNames) as readonly Topic[];

export function isTopic(name: string): name is Topic {
  return Object.hasOwn(recordNames, name);
}

/** The registry's subject for a topic's payloads. */
export function subjectOf(topic: Topic): string {
  return `${topic}-value`;
}
