import type { Tenant } from '@sluice/core';
import type { AgentRequest, DeadLetter, RequestTopic } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/** The records of one run that decide or are decided. */
export interface RunRecords {
  readonly requestId: string;
  readonly requests: Incoming<RequestTopic>[];
  readonly toolsets: Incoming<'agent.toolsets'>[];
  readonly calls: Incoming<'agent.tool-calls'>[];
  readonly steps: Incoming<'agent.steps'>[];
  readonly responses: Incoming<'agent.responses'>[];
  readonly approvals: Incoming<'agent.approvals'>[];
  /** Beginnings and ends of the agents’ runs that calls of this run became. */
  readonly begun: Incoming<'agent.steps'>[];
  readonly returns: Incoming<'agent.responses'>[];
}

/** What the run's records say of the agent that it asked; null where none of them does. */
export function agentOfRun({ toolsets, calls, steps, requests }: RunRecords): AgentRequest | null {
  const [toolset] = toolsets;
  const [call] = calls;
  // Of requests under its id, others may have been dropped.
  return toolset?.record.request ?? call?.record.request ?? steps[0]?.record.next ?? requests[0]?.record ?? null;
}

/**
 * A record as it is held until its run has ended: the bytes that it can be read from once more, which take a fraction
 * of the memory, and of the time that goes to garbage; whole only where the reader has no bytes of today’s schema at
 * hand.
 */
export type Held = Omit<Incoming, 'record' | 'avro'> &
  ({ readonly avro: Buffer; readonly record: null } | { readonly avro: null; readonly record: Incoming['record'] });

/** A run as it was gathered, in the order of the log. */
export interface Gathered {
  readonly requestId: string;
  /** Null while no record of it has said for which tenant it is. */
  tenant: Tenant;
  readonly messages: Held[];
  /** The approvals that were asked for in it. */
  readonly asked: Set<string>;
  /** How many of its decisions are selected, or may be once the others are known. */
  selected: number;
  /** When its last end came, null while it goes on; and whether that was an error. */
  endedAt: number | null;
  isError: boolean;
  /** The dead letters that it has ended with, once it is held as a dead end. */
  readonly letters: Map<string, DeadLetter>;
}

/** Dead letters by the place of the record that they hold. */
export type DeadLetters = ReadonlyMap<string, DeadLetter>;
