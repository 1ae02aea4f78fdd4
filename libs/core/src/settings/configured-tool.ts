import type { ArgumentBounds } from '../bounds/types.js';
import type { JsonObject } from '../json.js';
import type { Redaction, ToolEffect, ToolSpec } from '../tool/types.js';
import type { AgentSettings, PlanSettings } from './agent-types.js';
import type { McpToolRef } from './mcp-types.js';
import type { ToolIcon } from './offer.js';

/** A file with a tool’s code, as it was when the configuration was compiled: other bytes are another tool. */
export interface ToolFile {
  /** As it is found from the working directory. */
  readonly path: string;
  /** SHA-256 of its bytes, hexadecimal. */
  readonly hash: string;
  /** What its processes may reach of a network; absent for nothing. */
  readonly network?: ToolNetwork;
}

/** What a tool file asks for of a network: all of it, or these hosts, by requests that the service makes. */
export type ToolNetwork = 'open' | readonly string[];

/** One entry of `tool:`, compiled. */
export interface ConfiguredTool {
  /** The configuration key: the name in logs, metrics and history. */
  readonly key: string;
  /**
   * `core__<key>`, or `mcp__<server>__<tool>` for an mcp-tool: the name in policy, in audit and on every model's
   * wire.
   */
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  /**
   * When to use it, in one sentence: what a model is sent where the description is deferred. Absent where nothing is
   * known of the tool.
   */
  readonly shortDescription?: string;
  /** The pack that it is documented in: its type’s, or its MCP server; absent where nothing is known of the tool. */
  readonly category?: string;
  /** `deferred` where the agent’s model is sent the short description alone; absent for all others. */
  readonly descriptionMode?: 'deferred';
  /**
   * True: a provider's own search finds it, where there is one; false: it is always shown. Absent: discovery decides.
   */
  readonly deferLoading?: boolean;
  /** Tags, after the default; never holds `*`. Empty: reachable through a requested `*` alone. */
  readonly groups: readonly string[];
  /** States it is available in, after the default; `*` means every state. */
  readonly states: readonly string[];
  /** The state after a successful call, or null for no change. */
  readonly target: string | null;
  /** What the model is shown and the executor validates against; null while the tool’s arguments are unknown. */
  readonly spec: ToolSpec | null;
  /** True if repeating a call is safe. */
  readonly repeatable: boolean;
  /** Time limit of one call, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * How long a call, or one that an agent makes in it, may wait for people; absent where only the run’s limit counts.
   */
  readonly parkedMs?: number;
  /** The picture that MCP clients show, an https or data address; absent where there is none. */
  readonly icon?: string;
  /**
   * The pictures that an upstream server gives the tool; absent where there are none, or where `icon` stands in their
   * place.
   */
  readonly icons?: readonly ToolIcon[];
  /** Arguments of sample calls, for MCP clients; absent where there are none. */
  readonly examples?: readonly JsonObject[];
  /** The file that brings the type, for types of `tool_folders`; absent for others. */
  readonly file?: ToolFile;
  /** Where an mcp-tool runs, and as what it was allowed. */
  readonly mcp: McpToolRef | null;
  /** The id of the connection that its calls use; absent where they need none. */
  readonly connection?: string;
  /** How its calls go, each as a run of its own; absent for everything but an agent. */
  readonly agent?: AgentSettings;
  /** How plans are taken; absent for everything but a tool that takes them. */
  readonly plan?: PlanSettings;
  /** True for a tool that the client of the run brought and runs itself; absent for all others. */
  readonly isClients?: true;
  /** Bounds of the arguments of every call; absent for none. */
  readonly arguments?: ArgumentBounds;
  /** Why `spec` is null. */
  readonly unavailable: string | null;
}

/** What a tool type brings along: given to the compiler by the caller that has the implementations. */
export interface ToolType {
  readonly type: string;
  readonly description: string;
  /** When to use it, in one sentence; absent: the description’s first. */
  readonly shortDescription?: string;
  /** The pack it is documented in; absent: none. */
  readonly category?: string;
  readonly inputSchema: JsonObject;
  readonly effect: ToolEffect;
  readonly redaction: Redaction;
  readonly repeatable: boolean;
  /** True if it cannot work without a connection; absent for false. */
  readonly requiresConnection?: boolean;
  /** Where the type comes from; absent for built-in types. */
  readonly file?: ToolFile;
  /** What its file uses of Node for a network; absent for nothing. */
  readonly networkUses?: readonly string[];
  /** What its file uses that no tool has, as writing files; absent for nothing. */
  readonly closedUses?: readonly string[];
}
