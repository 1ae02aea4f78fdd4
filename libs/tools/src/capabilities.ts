import type { CallNotice, Clock } from '@sluice/core';
import type { KnowledgeStore } from './ports/knowledge.js';
import type { AuthCapability, ConnectionClientFactory, OwnAuth } from './connection/auth.js';
import type { Todos } from './ports/todos.js';
import type { Workspace } from './ports/workspace.js';

/**
 * What every tool may be given, by name: also one in a file of its own, whose author reads them in types/tool.d.ts. A
 * tool declares the names it needs in its contract and is handed those and no others; the composition root binds each
 * to something real. A pack that needs more declares that itself, see definingWith.
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
  /** The groups of tools that a run can load. */
  readonly toolsets: ToolsetCapability;
  /** Clients that carry the credential of the call’s connection. */
  readonly connections: ConnectionClientFactory;
  /** The credential itself. */
  readonly auth: AuthCapability;
}

export type CapabilityName = keyof Capabilities;

/** What the service gives, also to its own parts, which hand on no more than a tool may have. */
export interface ServiceCapabilities extends Capabilities {
  readonly auth: OwnAuth;
  readonly progress: OwnProgress;
}

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
  toolsets: true,
  connections: true,
  auth: true,
} satisfies Record<CapabilityName, true>) as readonly CapabilityName[];

/** The end of the call's patience: aborted by its time limit, or when the service gives the record up. */
interface CancellationCapability {
  readonly signal: AbortSignal;
}

/** Names this very call: the same for every attempt of it, different for every other call. */
interface IdempotencyCapability {
  readonly key: string;
}

/** Lets a long call say where it is. Best effort: nothing depends on a report arriving. */
interface ProgressCapability {
  report(text: string): void;
}

/** What Sluice’s own parts have beside that; no tool’s process can ask for it. */
export interface OwnProgress extends ProgressCapability {
  /** Names who calls, so that what a server says to one caller reaches no other. */
  readonly caller: string;
  /** Gives what the tool’s server says to the caller, within bounds; best effort, as a report is. */
  relay(notice: CallNotice): void;
}

/** A language model that continues a text, without tools. */
export interface TextCapability {
  /** Throws ToolUnavailableError if the model cannot be reached, and the signal's reason once it is aborted. */
  complete(prompt: string, signal: AbortSignal): Promise<string>;
}

/** Tools that a model is not shown before it asks for them. */
interface ToolsetCapability {
  /** Throws ToolUserError where there is no such group. */
  load(group: string): Promise<LoadedToolset>;
  /** Those that a regular expression or words match; none is an answer, too. */
  search(query: string): Promise<SearchedToolset>;
}

/** What a search found, by the names under which a model calls the tools, best first. */
export interface SearchedToolset {
  readonly tools: { readonly name: string; readonly description: string }[];
  /** How it was answered; `all`: a service gave no selection, so that all tools are shown. */
  readonly by: 'regex' | 'keywords' | 'blank' | 'api' | 'all';
  /** Why a service gave none; else null. */
  readonly fail_open: string | null;
  /** What the model can do now. */
  readonly note: string;
}

/** The tools of a group, by the names under which a model calls them. */
interface LoadedToolset {
  readonly group: string;
  readonly tools: { readonly name: string; readonly description: string }[];
  /** Tools of the group, whether they are all among `tools` or not. */
  readonly total: number;
}
