import type { JsonObject } from '../json.js';
import type { Redaction, ToolEffect, ToolSpec } from '../tool/types.js';

/** A file with a tool’s code, as it was when the configuration was compiled: other bytes are another tool. */
export interface ToolFile {
  /** As it is found from the working directory. */
  readonly path: string;
  /** SHA-256 of its bytes, hexadecimal. */
  readonly hash: string;
}

/** One entry of `tool:`, compiled. */
export interface ConfiguredTool {
  /** The configuration key: the name in logs, metrics and history. */
  readonly key: string;
  /** `core__<key>`, or `mcp__<server>__<tool>` for an mcp-tool: the name in policy, in audit and on every model's wire. */
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly description: string;
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
  /** The file that brings the type, for types of `tool_folders`; absent for others. */
  readonly file?: ToolFile;
  /** Where an mcp-tool runs, and as what it was allowed. */
  readonly mcp: McpPlace | null;
  /** The id of the connection that its calls use; absent where they need none. */
  readonly connection?: string;
  /** How its calls go, each as a run of its own; absent for everything but an agent. */
  readonly agent?: AgentSettings;
  /** Why `spec` is null. */
  readonly unavailable: string | null;
}

/** How the runs of an agent tool go. The time of a run is the tool's `timeoutMs`. */
export interface AgentSettings {
  /** The groups that its runs ask for; `*` for all. */
  readonly groups: readonly string[];
  /** The state that they begin in; null as for any request. */
  readonly state: string | null;
  /** Null: as many as the limits give any run. */
  readonly maxIterations: number | null;
  /** Tokens read and written together, and millionths of a US dollar, of one run; null for no limit. */
  readonly tokens: number | null;
  readonly microUsd: number | null;
  /** Null: the instructions of every agent. */
  readonly instructions: string | null;
  /** UTF-8 bytes of an answer as JSON text. */
  readonly answerBytes: number;
}

export const identityProviders = ['none', 'jwt'] as const;

/** The names of the claims that say what; null for what no claim says. */
export interface ClaimNames {
  readonly actor: string;
  readonly tenant: string;
  readonly subject: string | null;
  readonly groups: string;
  readonly connections: string | null;
}

/** How the sender of a request is known. With `jwt`, exactly one of `jwksUrl` and `keyFile` is there. */
export type IdentitySettings =
  | { readonly provider: 'none' }
  | {
      readonly provider: 'jwt';
      readonly jwksUrl: string | null;
      /** A JWKS or PEM file, relative to the working directory. */
      readonly keyFile: string | null;
      readonly issuer: string;
      readonly audience: string;
      readonly claims: ClaimNames;
    };

export interface McpPlace {
  readonly server: string;
  readonly tool: string;
  /** Hash over the description and the schemas that the server offered when the tool was allowed; null while it offered none. */
  readonly pin: string | null;
  /** The name under which MCP clients are served it; models know it by its id. */
  readonly served: string;
  /** What the server promises of its structured results; null if nothing. */
  readonly outputSchema: JsonObject | null;
  /** The tool of the same server that says whether a call took effect, and its pin; absent where none is named. */
  readonly reconcile?: { readonly tool: string; readonly pin: string };
}

export interface Policy {
  /** Tool ids that may run; everything else is denied. */
  readonly allowedTools: readonly string[];
  /** Ids of the agents that may run, of the allowed tools; absent for none. */
  readonly allowedAgents?: readonly string[];
  /** Effects whose calls need an approval; empty while nothing is written. */
  readonly approvalEffects: readonly ToolEffect[];
  /** Why no call needs an approval, in the operator’s words; absent where that is not said. */
  readonly approvalWaived?: string;
  /** Principals who may decide, `*` alone for everybody; while there are none, a tool that needs an approval is left out. */
  readonly approvers: readonly string[];
  /** How long a call waits for its approval, in milliseconds. */
  readonly approvalMs: number;
  readonly requesterMayNotApprove: boolean;
  readonly budgets: Budgets;
}

/** What calls may use up; null where nothing is written. */
export interface Budgets {
  /** Calls of all tools together in one run; null in configurations of earlier versions, which had no default. */
  readonly callsPerRun: number | null;
  /** By tool id; a tool for which nothing is written is not among them. */
  readonly tools: Readonly<Record<string, ToolBudget>>;
}

/** The lower of a budget and a limit counts. */
export interface ToolBudget {
  readonly timeoutMs: number | null;
  /** UTF-8 bytes of the redacted result as JSON text. */
  readonly resultBytes: number | null;
  readonly callsPerRun: number | null;
  /** Of each tenant, over all instances. */
  readonly callsPerMinute: number | null;
}

/** Who may do what; a list that is `*` alone means everyone, every tenant, every tool or every connection. */
export interface Permission {
  readonly principals: readonly string[];
  readonly tenants: readonly string[];
  /** Tool ids. */
  readonly tools: readonly string[];
  readonly connections: readonly string[];
}

/** Who may act for whom, and with what. */
export interface Delegation extends Omit<Permission, 'principals'> {
  readonly actors: readonly string[];
  readonly subjects: readonly string[];
}

/** Which authorizer decides, and by what; self-contained, with groups taken apart into principals for the built-in rules. */
export type AuthorizationSettings =
  | {
      readonly kind: 'rules';
      readonly permissions: readonly Permission[];
      readonly delegations: readonly Delegation[];
    }
  | {
      readonly kind: 'cedar';
      readonly policies: string;
      readonly schema: string;
      /** Principals by group. */
      readonly groups: Readonly<Record<string, readonly string[]>>;
    };

export interface Limits {
  readonly maxIterations: number;
  readonly runMs: number;
  readonly toolMs: number;
  readonly modelMs: number;
  /**
   * Calls of one turn that are made, and with it that no call is made whose step might have no room on the turn’s record; absent in
   * configurations of earlier versions, which bounded neither.
   */
  readonly callsPerTurn?: number;
  /** UTF-8 bytes of the encoded history, of a call's arguments, of a call's result. */
  readonly historyBytes: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

export const modelProviders = [
  'rules',
  'openai-compatible',
  'openai-responses',
  'anthropic',
  'google',
  'bedrock',
] as const;
export type ModelProvider = (typeof modelProviders)[number];

export interface ModelSettings {
  readonly provider: ModelProvider;
  /** The provider's model id; `rules` has none. */
  readonly name: string | null;
  readonly baseUrl: string | null;
  /** The environment variable that holds the key; never the key. */
  readonly apiKeyEnv: string | null;
  /** Bedrock only. */
  readonly region: string | null;
  readonly maxOutputTokens: number;
  /** Absent where none is configured: then no cost is counted. */
  readonly price?: ModelPrice;
}

/** What a million tokens cost, in whatever currency the operator counts in. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** A server by command (stdio) or by address (Streamable HTTP): exactly one of the two. */
export interface McpServer {
  readonly id: string;
  readonly command: string | null;
  readonly args: readonly string[];
  /** Names of environment variables that are handed on. */
  readonly env: readonly string[];
  readonly url: string | null;
  readonly startMs: number;
  /** What its clients authenticate with, whole, so that another setting makes other clients; absent for a server that asks for nothing. */
  readonly connection?: ConnectionSettings;
  /** The variable in which a server by command finds the credential. */
  readonly connectionEnv?: string;
}

export const connectionAdapters = ['environment', 'file', 'http'] as const;

/** Where the credential of a connection comes from; the credential itself is nowhere in a configuration. */
export type ConnectionSettings = {
  readonly id: string;
  /** Whose requests may use it; `*` for all. */
  readonly tenants: readonly string[];
} & (
  | { readonly adapter: 'environment'; readonly variable: string }
  /** Relative to the working directory. */
  | { readonly adapter: 'file'; readonly path: string }
  /** A broker of the operator's; `keyEnv` is the variable with the key that Sluice shows it, null for none. */
  | { readonly adapter: 'http'; readonly url: string; readonly keyEnv: string | null }
);

export interface KnowledgeSettings {
  /** RDF files loaded into the in-process store at start, relative to the working directory. */
  readonly load: readonly string[];
  /** A SPARQL 1.1 endpoint used instead of the in-process store. */
  readonly endpoint: string | null;
  readonly updateEndpoint: string | null;
}

/** A whole configuration, checked and self-contained: what travels on agent.config. Plain JSON. */
export interface Configuration {
  /** Hash over everything else here. */
  readonly version: string;
  /** In configuration order. */
  readonly tools: readonly ConfiguredTool[];
  readonly identity: IdentitySettings;
  readonly policy: Policy;
  /** Null: everybody is allowed what policy allows, which is said at start. */
  readonly authorization: AuthorizationSettings | null;
  readonly instructions: string;
  readonly model: ModelSettings;
  readonly mcpServers: readonly McpServer[];
  /** Absent where there are none. */
  readonly connections?: readonly ConnectionSettings[];
  readonly knowledge: KnowledgeSettings;
  readonly limits: Limits;
}

/** What a tool type brings along: given to the compiler by the caller that has the implementations. */
export interface ToolType {
  readonly type: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly effect: ToolEffect;
  readonly redaction: Redaction;
  readonly repeatable: boolean;
  /** True if it cannot work without a connection; absent for false. */
  readonly requiresConnection?: boolean;
  /** Where the type comes from; absent for built-in types. */
  readonly file?: ToolFile;
}

/** A mistake: the configuration is refused. */
export interface Problem {
  /** Dotted, as in the file: `tool.graph-update.group[1]`. */
  readonly path: string;
  readonly found: string;
  readonly write: string;
}

/** Something legal that an author will want to know: cycles, dead ends, unreachable tools, unavailable tools. */
export interface Finding {
  readonly kind:
    | 'cycle'
    | 'dead_end'
    | 'unreachable_tool'
    | 'unreachable_state'
    | 'never_available'
    | 'not_allowed'
    | 'unasked'
    | 'unavailable'
    | 'escalation'
    | 'toolless_agent'
    | 'simplified'
    | 'narrowed'
    | 'many_tools'
    | 'endless_list'
    | 'unset_variable';
  readonly path: string;
  readonly message: string;
}
