import type {
  AgentProgress,
  AgentRequest,
  AgentResponse,
  AgentStepResult,
  Cancellation,
} from '../generated/records.js';

/** The records that a system outside of Sluice writes and reads, by topic. */
export interface Records {
  readonly 'agent.requests': AgentRequest;
  readonly 'agent.steps': AgentStepResult;
  readonly 'agent.responses': AgentResponse;
  readonly 'agent.progress': AgentProgress;
  readonly 'agent.cancellations': Cancellation;
}

export type Topic = keyof Records;

/** A record of one of these topics, and where it stands. */
export type Received<T extends Topic = Topic> = {
  readonly [K in T]: {
    /** Without the prefix. */
    readonly topic: K;
    readonly partition: number;
    readonly offset: string;
    /** The session. */
    readonly key: string | null;
    readonly record: Records[K];
  };
}[T];

/** A request: `question`, and of the rest what differs from the schema’s defaults. */
export type NewRequest = Pick<AgentRequest, 'question'> & Partial<AgentRequest>;
