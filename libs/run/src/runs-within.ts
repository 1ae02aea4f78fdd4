import type { Incoming } from '@sluice/bus';
import { agentRunIdOf } from './agent-runs.js';
import { callIdOf } from './calls.js';

/** An agent’s run, and the call that it is. */
export interface AgentCall {
  readonly runId: string;
  /** The tool as the model named it. */
  readonly name: string;
  readonly callId: string;
  /** The run whose call it is: another agent’s where agents are nested. */
  readonly callerRunId: string;
}

/**
 * A run and those of the agents that it calls. The id of such a run is made of its call, so it is known with the
 * call's record, before anything of the run can be on the log.
 */
export class RunsWithin {
  private readonly within: Map<string, readonly AgentCall[]>;
  private readonly listeners: ((runId: string) => void)[] = [];

  constructor(requestId: string) {
    this.within = new Map([[requestId, []]]);
  }

  /**
   * The agents’ runs that a record of this run is of, the outer one first; null where the run is none of these. To be
   * asked of each record, as those of calls say which runs there may be.
   */
  of(requestId: string | null, message: Incoming): readonly AgentCall[] | null {
    const within = this.within.get(requestId ?? '');
    if (within === undefined) return null;
    if (message.topic !== 'agent.tool-calls') return within;
    const { record } = message;
    for (const [index, call] of record.calls.entries()) {
      const runId = agentRunIdOf(record, call, index);
      if (this.within.has(runId)) continue;
      const callId = callIdOf(record, call, index);
      this.within.set(runId, [...within, { runId, name: call.tool, callId, callerRunId: record.requestId }]);
      for (const listener of this.listeners) listener(runId);
    }
    return within;
  }

  /** Calls it with the id, and so the session, of each run that may be an agent’s; those known so far as well. */
  onRun(listener: (runId: string) => void): void {
    for (const [runId, { length }] of this.within) if (length > 0) listener(runId);
    this.listeners.push(listener);
  }
}
