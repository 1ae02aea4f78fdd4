/**
 * Types for authors of tools (docs/writing-a-tool.md): `import type { ToolKit } from 'sluice/tool'`. Types alone: a
 * tool file is handed what it uses, and Node strips this import.
 */
import type { z } from 'zod';
import type { RequestOfTool } from './request-of-tool.js';

/** What the default export of a tool file is given. */
export interface ToolKit {
  /** Checks a definition when the file is loaded; throws an Error that lists what is wrong with it. */
  readonly defineTool: <
    Input extends z.ZodObject,
    Output extends z.ZodType,
    const Needed extends keyof Capabilities = never,
  >(
    definition: ToolDefinition<Input, Output, Needed>,
  ) => Tool;
  readonly z: typeof z;
  /** A failure whose text the model reads, to say what to change. */
  readonly ToolUserError: ErrorClass;
  /** What the tool needs cannot be reached now, and nothing has happened. */
  readonly ToolUnavailableError: ErrorClass;
  /** The call was sent and no answer came: whether it took effect is not known. */
  readonly ToolOutcomeLostError: ErrorClass;
}

/** A tool that defineTool has checked: what a tool file returns. */
export interface Tool {
  readonly type: string;
  readonly description: string;
  readonly effect: ToolEffect;
}

export type ToolFile = (kit: ToolKit) => Tool | Promise<Tool>;

export type ErrorClass = new (message: string, options?: { readonly cause?: unknown }) => Error;

export type ToolEffect = 'read_only' | 'state_change' | 'external_side_effect';

/** The fields of the result that may leave the tool, or all of it. */
export type Redaction = { readonly fields: readonly string[] } | { readonly whole: true };

export interface ToolDefinition<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Needed extends keyof Capabilities,
> {
  /** The `type` of configuration entries: letters, digits, `-` and `_`. */
  readonly type: string;
  /** What a model reads. */
  readonly description: string;
  /**
   * When to use it, in a sentence of 20 to 30 tokens, for a model that is not shown the description. Left out, its
   * first sentence.
   */
  readonly shortDescription?: string;
  /** The pack that the documentation lists it under, a word. Left out, `other`. */
  readonly category?: string;
  readonly input: Input;
  readonly output: Output;
  readonly effect: ToolEffect;
  readonly redaction: Redaction;
  readonly capabilities: readonly Needed[];
  /** True if the same call twice changes nothing more. */
  readonly repeatable: boolean;
  readonly requiresConnection: boolean;
  /**
   * What the file’s own code may reach of a network. 'none', also where it is left out; hosts, as 'api.example.com'
   * or 'api.example.com:8443', which `fetch` then asks through the service; or 'open', which whoever configures the
   * tool is told.
   */
  readonly network?: 'none' | 'open' | readonly string[];
  execute(
    args: z.output<Input>,
    context: ToolContext,
    capabilities: Pick<Capabilities, Needed>,
  ): Promise<z.input<Output>>;
  /**
   * Whether a call of this key took effect whose end is not known; it changes nothing. Leave it out if the tool
   * cannot say. What it throws, and no answer in time, counts as `unknown`.
   */
  reconcile?(
    args: z.output<Input>,
    call: ToolContext & { readonly key: string },
    capabilities: Pick<Capabilities, Needed>,
  ): Promise<Reconciled<z.input<Output>>>;
}

/** `result` is what the call would have given. Say `did_not_happen` only if it cannot happen any more. */
export type Reconciled<Result> =
  | { readonly outcome: 'happened'; readonly result: Result }
  | { readonly outcome: 'did_not_happen' }
  | { readonly outcome: 'unknown' };

/** For whom a call is made, by ids; never a secret. */
export interface ToolContext extends RequestOfTool {
  readonly runId: string;
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly actorId: string;
  readonly tenantId: string;
  readonly subjectId?: string;
  readonly connectionId?: string;
}

/** What a tool may use: it is handed those that its `capabilities` name. */
export interface Capabilities {
  /** Milliseconds since 1970. */
  readonly clock: { now(): number };
  /** Aborted when the call's time is up. */
  readonly cancellation: { readonly signal: AbortSignal };
  /** The same for every attempt of this very call. */
  readonly idempotency: { readonly key: string };
  readonly progress: { report(text: string): void };
  readonly knowledge: Knowledge;
  readonly text: { complete(prompt: string, signal: AbortSignal): Promise<string> };
  readonly workspace: Workspace;
  readonly todos: Todos;
  readonly toolsets: Toolsets;
  readonly connections: {
    /** Asks the hosts of the connection, and no other. */
    for(connectionId: string): { fetch(url: string | URL, init?: RequestInit): Promise<Response> };
  };
  readonly auth: {
    /** For a request to this address, whose host the connection names. */
    getAccessToken(connectionId: string, url: string | URL): Promise<string>;
    getAuthHeaders(connectionId: string, url: string | URL): Promise<Readonly<Record<string, string>>>;
    /** Another credential after a 401; false if there is none. */
    renew(connectionId: string): Promise<boolean>;
  };
}

export type Cell = string | number | boolean;

export interface Answer {
  readonly rows: readonly Readonly<Record<string, Cell>>[];
  readonly count: number;
}

export interface Statement {
  readonly subject: string;
  readonly predicate: string;
  readonly object: Cell;
}

/** The knowledge graph. */
export interface Knowledge {
  find(entity: string, relation: string | undefined, signal: AbortSignal): Promise<Answer>;
  /** A SPARQL 1.1 query that only reads. */
  query(sparql: string, signal: AbortSignal): Promise<Answer>;
  /** Removes, then adds. The same key a second time changes nothing. */
  change(
    request: { readonly add: readonly Statement[]; readonly remove: readonly Statement[] },
    key: string,
    signal: AbortSignal,
  ): Promise<{ readonly added: number; readonly removed: number; readonly alreadyDone: boolean }>;
}

export type EntryKind = 'file' | 'directory';

/** The files of the session. Paths are relative to its folder; sizes, offsets and limits of `read` are bytes. */
export interface Workspace {
  read(
    path: string,
    offset: number,
    limit: number,
  ): Promise<{
    readonly text: string;
    readonly offset: number;
    readonly size: number;
    readonly nextOffset: number | null;
  }>;
  write(path: string, text: string): Promise<{ readonly size: number; readonly created: boolean }>;
  append(path: string, text: string): Promise<{ readonly size: number; readonly created: boolean }>;
  list(
    path: string,
    offset: number,
    limit: number,
  ): Promise<{
    readonly entries: readonly { readonly name: string; readonly kind: EntryKind; readonly bytes: number }[];
    readonly total: number;
  }>;
  remove(path: string): Promise<boolean>;
  search(
    text: string,
    path: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<{
    readonly matches: readonly {
      readonly path: string;
      readonly line: number;
      readonly offset: number;
      readonly text: string;
    }[];
    readonly truncated: boolean;
  }>;
  kindOf(path: string): Promise<EntryKind | null>;
  usage(): Promise<{ readonly files: number; readonly directories: number; readonly bytes: number }>;
}

export type Priority = 'high' | 'medium' | 'low';
export type Status = 'pending' | 'in_progress' | 'completed';

export interface Todo {
  readonly id: number;
  readonly task: string;
  readonly priority: Priority;
  readonly status: Status;
}

/** The tasks of the session. `call` is the call's idempotency key: the same one again changes nothing. */
export interface Todos {
  current(): Promise<{ readonly todos: readonly Todo[]; readonly archives: readonly number[] }>;
  next(): Promise<{ readonly next: Todo | null; readonly pending: number }>;
  archived(archive: number): Promise<readonly Todo[]>;
  add(task: string, priority: Priority, call: string): Promise<Todo>;
  mark(id: number, status: Status): Promise<Todo>;
  archive(call: string): Promise<number>;
}

/** The groups of tools that the run can load. */
export interface Toolsets {
  load(group: string): Promise<{
    readonly group: string;
    readonly tools: readonly { readonly name: string; readonly description: string }[];
    readonly total: number;
  }>;
}
