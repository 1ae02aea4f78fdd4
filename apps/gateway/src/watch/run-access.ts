import type { Incoming } from '@sluice/bus';
import type { Principal } from '@sluice/core';
import { isSame } from '../caller.js';

/** What a caller may see of a record of the run that it names. */
export type Telling = 'tell' | 'keep' | 'not_theirs';

/** What is said where a record is not the caller’s. */
export const anothersRun = 'The request_id names a run of somebody else. Choose another one, or leave it out.';

/**
 * Holds a caller to its own runs. An id is no secret, so it opens nothing: the first record that says whose run it is decides, and what
 * comes before it and does not say is kept back.
 */
export class RunAccess {
  #theirs = false;

  constructor(private readonly caller: Principal) {}

  /** Whether a record has said that the run is the caller’s. */
  get isTheirs(): boolean {
    return this.#theirs;
  }

  of(message: Incoming): Telling {
    const said = principalOf(message);
    if (said === 'unsaid') return this.#theirs ? 'tell' : 'keep';
    // The refusal of a request whose credential could not be read: it holds nothing but the refusal.
    if (said === null) return 'tell';
    this.#theirs = isSame(said, this.caller);
    return this.#theirs ? 'tell' : 'not_theirs';
  }
}

function principalOf(message: Incoming): Principal | null | 'unsaid' {
  switch (message.topic) {
    case 'agent.toolsets':
    case 'agent.tool-calls':
    case 'agent.steps':
      return message.record.run.principal ?? 'unsaid';
    case 'agent.responses':
      return message.record.run === null ? null : (message.record.run.principal ?? 'unsaid');
    case 'agent.requests':
    case 'agent.progress':
    case 'agent.approvals':
    case 'agent.audit':
    case 'agent.dead-letters':
    case 'agent.config':
      return 'unsaid';
  }
}
