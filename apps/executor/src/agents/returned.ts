import type { AgentResponse, Run } from '@sluice/contracts';

/** The results of calls that ran as sub-agents, by their places in the turn: one, or those that ran side by side. */
export type AllReturned = ReadonlyMap<number, Returned>;

/** The result of a call that ran as a sub-agent. */
export interface Returned {
  readonly end: Pick<AgentResponse, 'requestId' | 'answer' | 'error' | 'incomplete'>;
  /** As it ended. */
  readonly run: Run;
  /** When the call began, milliseconds since the epoch. */
  readonly startedAt: number;
}
