import type { AgentRun } from '@sluice/core';
import type { AgentResponse } from '@sluice/contracts';

/** What came of a call that ran as an agent. */
export interface Returned {
  readonly end: Pick<AgentResponse, 'answer' | 'error'>;
  readonly agentRun: AgentRun;
  /** When the call began, milliseconds since the epoch. */
  readonly startedAt: number;
}
