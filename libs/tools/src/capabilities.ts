import type { Clock } from '@sluice/core';
import type { KnowledgeStore } from './knowledge/store.js';
import type { AuthCapability, ConnectionClientFactory } from './connection/auth.js';
import type { Todos } from './todo/todos.js';
import type { Workspace } from './workspace/workspace.js';

/**
 * What a tool may be given, by name. A tool declares the names it needs in its contract and is
 * handed those and no others; the composition root binds each to something real.
 */
export interface Capabilities {
  readonly clock: Clock;
  readonly cancellation: CancellationCapability;
  readonly idempotency: IdempotencyCapability;
  readonly progress: ProgressCapability;
  readonly knowledge: KnowledgeStore;
  readonly text: TextCapability;
  /** The files of the call’s session. */
  readonly workspace: Workspace;
  /** The tasks of the call’s session. */
  readonly todos: Todos;
  /** Clients that carry the credential of the call’s connection. */
  readonly connections: ConnectionClientFactory;
  /** The credential itself. */
  readonly auth: AuthCapability;
}

export type CapabilityName = keyof Capabilities;

/** Those that only a tool with a connection may have. */
export const ofConnections: readonly CapabilityName[] = ['connections', 'auth'];

/** All of them, for definitions that no compiler has seen. */
export const capabilityNames = Object.keys({
  clock: true,
  cancellation: true,
  idempotency: true,
  progress: true,
  knowledge: true,
  text: true,
  workspace: true,
  todos: true,
  connections: true,
  auth: true,
} satisfies Record<CapabilityName, true>) as readonly CapabilityName[];

/** The end of the call's patience: aborted by its time limit, or when the service gives the record up. */
export interface CancellationCapability {
  readonly signal: AbortSignal;
}

/** Names this very call: the same for every attempt of it, different for every other call. */
export interface IdempotencyCapability {
  readonly key: string;
}

/** Lets a long call say where it is. Best effort: nothing depends on a report arriving. */
export interface ProgressCapability {
  report(text: string): void;
}

/** A language model that continues a text, without tools. */
export interface TextCapability {
  /** Throws ToolUnavailableError if the model cannot be reached, and the signal's reason once it is aborted. */
  complete(prompt: string, signal: AbortSignal): Promise<string>;
}
