import type { TextMode } from '../foreign-text.js';
import type { JsonObject } from '../json.js';
import type { ConnectionSettings } from './connection-types.js';
import type { HttpOperation, OpenApiSettings } from './openapi-types.js';

/** What of MCP servers is passed on to MCP clients beside tools. */
export const passedOnKinds = ['resource', 'prompt'] as const;
export type PassedOnKind = (typeof passedOnKinds)[number];

/** Lists of a server beside that of its tools. */
export type PassedOnList = 'resources' | 'prompts';

/** Kinds of blocks in what a tool of an MCP server answers; a link to a resource counts as one. */
export const contentKinds = ['text', 'image', 'audio', 'resource'] as const;
export type ContentKind = (typeof contentKinds)[number];

export interface McpToolRef {
  readonly server: string;
  /** The tool’s name; of resources the pattern of their addresses, of a prompt its name. */
  readonly tool: string;
  /** Absent for a tool. Others are for MCP clients alone: no model is offered them. */
  readonly kind?: PassedOnKind;
  /**
   * Hash over the description and the schemas that the server offered when the tool was allowed; null while it
   * offered none.
   */
  readonly pin: string | null;
  /** The name under which MCP clients are served it; models know it by its id. */
  readonly served: string;
  /** What the server promises of its structured results; null if nothing. */
  readonly outputSchema: JsonObject | null;
  /**
   * JSON pointers into the input schema to what the server lets be null, which models are not shown; absent for none.
   */
  readonly nulls?: readonly string[];
  /** The tool of the same server that says whether a call took effect, and its pin; absent where none is named. */
  readonly reconcile?: { readonly tool: string; readonly pin: string };
  /** How long a result may answer equal calls, in milliseconds; absent where each call is made. */
  readonly cacheMs?: number;
  /**
   * Kinds of blocks that leave the tool; absent for all where its redaction leaves the result whole, and none beside
   * the value where it names fields.
   */
  readonly content?: readonly ContentKind[];
  /** Of resources: their server says when one changes to those who subscribed to it. Absent where it does not. */
  readonly subscribes?: true;
  /** The request that a call is, for an operation of an OpenAPI document; absent for a tool of an MCP server. */
  readonly operation?: HttpOperation;
}

/** What a server may ask a model in the middle of one call. */
export interface McpSampling {
  /** A name of the configured model’s provider; null for the configured model. */
  readonly model: string | null;
  readonly calls: number;
  /** Input and output of all of them together. */
  readonly tokens: number;
}

export interface McpRoot {
  readonly uri: string;
  readonly name?: string;
}

/**
 * A server by command (stdio) or by address (Streamable HTTP): exactly one of the two. Or an HTTP API with an OpenAPI
 * document, whose address is `url`; null where the document says it.
 */
export interface McpServer {
  readonly id: string;
  readonly command: string | null;
  readonly args: readonly string[];
  /** Names of environment variables that are handed on. */
  readonly env: readonly string[];
  readonly url: string | null;
  readonly startMs: number;
  /** Bytes of one of its messages; absent for 10 MB. */
  readonly messageBytes?: number;
  /** Tools that are read of its list; absent where it is the default, 1,000. */
  readonly mostTools?: number;
  /** What is done with its texts that hide something or speak to the model; absent for `strip`. */
  readonly descriptions?: TextMode;
  /** `none`: no person is asked for it; absent for forms. */
  readonly elicitation?: 'none';
  /** Which model answers it in the middle of calls; absent for none. */
  readonly sampling?: McpSampling;
  /** The client’s folders, as it lists them to the server; absent for none. */
  readonly roots?: readonly McpRoot[];
  /** Calls of all its tools together, of each tenant, over all instances; absent for no limit. */
  readonly callsPerMinute?: number;
  /**
   * What its clients authenticate with, whole, so that another setting makes other clients; absent for a server that
   * asks for nothing.
   */
  readonly connection?: ConnectionSettings;
  /** The variable in which a server by command finds the credential. */
  readonly connectionEnv?: string;
  /** Absent for an MCP server. */
  readonly openapi?: OpenApiSettings;
}
