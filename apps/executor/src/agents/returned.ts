import type { AgentRun } from '@sluice/core';
import type { AgentResponse } from '@sluice/contracts';

/** The result of a call that ran as a sub-agent. */
export interface Returned {
  readonly end: Pick<AgentResponse, 'answer' | 'error'>;
  readonly agentRun: AgentRun;
  /** When the call began, milliseconds since the epoch. */
  readonly startedAt: number;
}
