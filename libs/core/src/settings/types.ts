import type { AvailabilityRule } from '../availability/types.js';
import type { TextMode } from '../foreign-text.js';
import type { DescriptionSettings } from '../descriptions/types.js';
import type { AgentDiscovery, Pipes } from './discovery-types.js';
import type { JsonObject } from '../json.js';
import type { ToolIcon } from './offer.js';
import type { ProxySettings } from './proxy-types.js';
import type { GroupTree } from '../rules/group-tree.js';
import type { Redaction, ToolEffect, ToolSpec } from '../tool/types.js';

/** From a group to those that stand in for it, in order. */
export type GroupFallbacks = Readonly<Record<string, readonly string[]>>;

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
  readonly mcp: McpPlace | null;
  /** The id of the connection that its calls use; absent where they need none. */
  readonly connection?: string;
  /** How its calls go, each as a run of its own; absent for everything but an agent. */
  readonly agent?: AgentSettings;
  /** How plans are taken; absent for everything but a tool that takes them. */
  readonly plan?: PlanSettings;
  /** Why `spec` is null. */
  readonly unavailable: string | null;
}

/** How runs come to their answers. */
export const strategyNames = ['react', 'plan', 'confidence', 'supervisor', 'auto'] as const;
export type StrategyName = (typeof strategyNames)[number];

/** How the plans of a run are taken. */
export interface PlanSettings {
  /** Whether a plan needs an approval before its first step runs. */
  readonly approve: boolean;
  /** Plans of one run, those counted that were refused or failed. */
  readonly maxPlans: number;
  readonly maxSteps: number;
  /** What steps are held to in runs of the strategy `confidence`; absent for the defaults. */
  readonly confidence?: ConfidenceSettings;
}

/** What a run of the strategy `confidence` holds the steps of its plans to, where these say nothing else. */
export interface ConfidenceSettings {
  /** From 0 to 1: a result below it is not good enough. */
  readonly threshold: number;
  /** Further attempts at a step, with other arguments. */
  readonly retries: number;
  /** Time limit of one attempt, beside the tool’s; null for the tool’s alone. */
  readonly timeoutMs: number | null;
  /** Whether a simpler call is made once the retries are used up. */
  readonly simplify: boolean;
  readonly judge: 'formula' | 'model';
  readonly override: 'model' | 'person' | 'none';
  /** Tokens of the run’s history that the model is shown, at most. */
  readonly contextTokens: number;
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
  /** Absent for `react`. */
  readonly strategy?: StrategyName;
  /** The name of the configuration’s model that it asks first; absent for the first of the list. */
  readonly model?: string;
}

export const identityProviders = ['none', 'jwt', 'api-keys'] as const;

/** The names of the claims that say what; null for what no claim says. */
export interface ClaimNames {
  readonly actor: string;
  readonly tenant: string;
  readonly subject: string | null;
  readonly groups: string;
  readonly connections: string | null;
  /** Stands between names where a claim is a text; absent: blanks. */
  readonly groupsSeparator?: string;
  /** Taken off the beginning of each group that has it, as in `/knowledge`; absent: nothing. */
  readonly groupsPrefix?: string;
}

/** How the sender of a request is known. API keys are accepted with `jwt` too. */
export type IdentitySettings = { readonly provider: 'none' } | ApiKeySettings | JwtSettings;

export interface ApiKeySettings {
  readonly provider: 'api-keys';
  /** Absent where there are no operators. */
  readonly operators?: readonly Operators[];
}

/** Principals of these tenants who may use the operators’ routes of the gateway. */
export interface Operators {
  readonly principals: readonly string[];
  readonly tenants: readonly string[];
}

/**
 * At most one of `jwksUrl` and `keyFile` is there; without either the issuer's OIDC discovery says where the keys
 * are.
 */
export interface JwtSettings {
  readonly provider: 'jwt';
  readonly jwksUrl: string | null;
  /** A JWKS or PEM file, relative to the working directory. */
  readonly keyFile: string | null;
  readonly issuer: string;
  readonly audience: string;
  readonly claims: ClaimNames;
  /** How far the issuer's clock may be off, in milliseconds; absent for the default. */
  readonly clockToleranceMs?: number;
  /** Where the groups of a caller come from; absent: from the claims as they are. */
  readonly permissions?: PermissionSettings;
  /** Absent where there are no operators. */
  readonly operators?: readonly Operators[];
}

/** Where the groups and connections of a verified caller come from. */
export interface PermissionSettings {
  /**
   * The groups of each role. What the source names is then roles, and a role that is not here gives nothing; absent:
   * it names groups.
   */
  readonly roles?: Readonly<Record<string, readonly string[]>>;
  /** Absent: the claims. */
  readonly source?: PermissionSourceSettings;
}

export type PermissionSourceSettings =
  | { readonly kind: 'file'; readonly path: string }
  /** A table or view in the database of the ledger. */
  | { readonly kind: 'table'; readonly table: string }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly keyEnv: string | null;
      readonly timeoutMs: number;
      readonly cacheMs: number;
    };

/** What of MCP servers is passed on to MCP clients beside tools. */
export const passedOnKinds = ['resource', 'prompt'] as const;
export type PassedOnKind = (typeof passedOnKinds)[number];

/** Whether a supervisor’s agents go on where one beside them fails. */
export const onErrorChoices = ['collect', 'stop'] as const;
export interface SupervisorSettings {
  readonly onError: (typeof onErrorChoices)[number];
}

/** Which earlier runs of a session a model is shown. */
export interface MemorySettings {
  /** Whole answers of the last runs, or the first sentences of more of them. */
  readonly kind: 'last' | 'summary';
  readonly runs: number;
  /** About how many tokens they may take together. */
  readonly tokens: number;
}

export interface McpPlace {
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
  /**
   * Principals who may decide, `*` alone for everybody; while there are none, a tool that needs an approval is left
   * out.
   */
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
  /** Tokens read and written together in one run, and millionths of a US dollar; absent for no limit. */
  readonly tokensPerRun?: number;
  readonly microUsdPerRun?: number;
  /**
   * Whether all that the model is sent is set aside before a turn: question, instructions and definitions of tools,
   * too. Absent without such a limit, and in configurations of earlier versions, which set aside the history alone.
   */
  readonly setsAsideAll?: true;
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

/**
 * Which authorizer decides, and by what; self-contained, with groups taken apart into principals for the built-in
 * rules.
 */
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
    }
  | {
      readonly kind: 'openfga';
      readonly url: string;
      readonly store: string;
      /** The id of the authorization model; null for the store's latest. */
      readonly model: string | null;
      readonly keyEnv: string | null;
      readonly timeoutMs: number;
    };

export interface Limits {
  readonly maxIterations: number;
  readonly runMs: number;
  readonly toolMs: number;
  readonly modelMs: number;
  /**
   * Calls of one turn that are made, and with it that no call is made whose step might have no room on the turn’s
   * record; absent in configurations of earlier versions, which bounded neither.
   */
  readonly callsPerTurn?: number;
  /** UTF-8 bytes of the encoded history, of a call's arguments, of a call's result. */
  readonly historyBytes: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
  /** Runs of one tenant that the doors let be open at a time, 0 for no limit; absent where it is the default. */
  readonly openRuns?: number;
}

export const modelProviders = [
  'rules',
  'openai-compatible',
  'openai-responses',
  'anthropic',
  'google',
  'bedrock',
  'bedrock-anthropic',
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
  /** Anthropic only: what of its API it is asked for before that is the default; absent for nothing. */
  readonly betas?: readonly string[];
  /**
   * What is sent as it stands; absent where the provider's own default holds. Which wire has which, the compiler
   * knows.
   */
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** How much a model thinks, in the word of OpenAI's wires. */
  readonly reasoningEffort?: string;
  /** How many tokens it may think, for the wires of Anthropic, Bedrock and Gemini. */
  readonly thinkingTokens?: number;
  /** Headers beside Sluice's own; no secrets, since a configuration travels in the clear. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Azure only: the version of its API, in the address of each request. */
  readonly apiVersion?: string;
}

/** What a million tokens cost, in whatever currency the operator counts in. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Of input that the provider had in its cache; absent for that of input. */
  readonly cachedInput?: number;
  /** Of input that the provider put into its cache; absent for that of input. */
  readonly cacheWrite?: number;
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
  /** Bytes of one of its messages; absent for 10 MB. */
  readonly messageBytes?: number;
  /** What is done with its texts that hide something or speak to the model; absent for `strip`. */
  readonly descriptions?: TextMode;
  /** Calls of all its tools together, of each tenant, over all instances; absent for no limit. */
  readonly callsPerMinute?: number;
  /**
   * What its clients authenticate with, whole, so that another setting makes other clients; absent for a server that
   * asks for nothing.
   */
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
  /**
   * Where tools may send it, as schemes, hosts and ports; absent where none is written, and only an MCP server’s own
   * address gets it.
   */
  readonly hosts?: readonly string[];
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

export interface DocumentSettings {
  /** Documents that every session may read, relative to the working directory. */
  readonly folder: string;
}

/** The graph of requirements. */
export interface GraphSettings {
  /** Where each tenant’s graph is, relative to the working directory of each executor; null for the data folder. */
  readonly folder: string | null;
  /** Files that each graph begins with. */
  readonly load: readonly string[];
  /** The server that holds the graphs instead of files; absent where none does. */
  readonly neo4j?: Neo4jSettings;
}

export interface Neo4jSettings {
  /** `neo4j://` or `bolt://`, with `+s` for TLS. */
  readonly url: string;
  readonly user: string;
  /** The variable with the password; never the password. */
  readonly passwordEnv: string;
  /** The database of each tenant; a tenant that is not here has no graph. */
  readonly databases: Readonly<Record<string, string>>;
  /**
   * The authority that signed the server’s certificate, relative to the working directory; null for those of the
   * system.
   */
  readonly caFile: string | null;
  readonly connectMs: number;
  readonly queryMs: number;
  /** Connections of one tenant’s graph in one process, at most. */
  readonly pool: number;
  /** Whether execute_cypher_query may change nodes and relationships. */
  readonly writeQueries: boolean;
}

export const webSearchProviders = ['tavily', 'searxng', 'brave'] as const;

export interface WebSearchSettings {
  readonly provider: (typeof webSearchProviders)[number];
  /** Null for the provider’s own address. */
  readonly url: string | null;
  /** The variable with its key; null for none. */
  readonly apiKeyEnv: string | null;
}

export interface WebSettings {
  /** Null where there is no search. */
  readonly search: WebSearchSettings | null;
  /** Hosts, with or without a port, that tools may fetch from though they are not on the public internet. */
  readonly privateHosts: readonly string[];
}

/** A whole configuration, checked and self-contained: what travels on agent.config. Plain JSON. */
export interface Configuration {
  /** Hash over everything else here. */
  readonly version: string;
  /** In configuration order. */
  readonly tools: readonly ConfiguredTool[];
  /** Absent where no group is within another. */
  readonly groupTree?: GroupTree;
  /** Absent where no group has another that stands in for it. */
  readonly groupFallbacks?: GroupFallbacks;
  /** When tools are available; absent where no rule is written. */
  readonly rules?: readonly AvailabilityRule[];
  readonly identity: IdentitySettings;
  readonly policy: Policy;
  /** Null: everybody is allowed what policy allows, which is said at start. */
  readonly authorization: AuthorizationSettings | null;
  readonly instructions: string;
  /** How runs come to their answers, and what requests may choose; absent where all work by `react`. */
  readonly strategy?: {
    readonly byDefault: StrategyName;
    readonly forRequests: readonly StrategyName[];
    /** Strategies that `auto` chooses from; absent for all. */
    readonly auto?: readonly StrategyName[];
  };
  /** How supervisors’ runs work; absent where nothing is written. */
  readonly supervisor?: SupervisorSettings;
  /** Which earlier runs of its session a run’s model is shown; absent for none. */
  readonly memory?: MemorySettings;
  /** Which of the offered tools the agent’s model is shown; absent where it is shown all. */
  readonly agentDiscovery?: AgentDiscovery;
  /** How the agent’s tools are described to its model; absent where all are, in full. */
  readonly descriptions?: DescriptionSettings;
  readonly model: ModelSettings;
  /** The models that are asked after it, in order, where it gives no turn; absent where there are none. */
  readonly fallbacks?: readonly ModelSettings[];
  readonly mcpServers: readonly McpServer[];
  /** Absent where there are none. */
  readonly connections?: readonly ConnectionSettings[];
  readonly knowledge: KnowledgeSettings;
  /** Absent where there are no documents for all. */
  readonly documents?: DocumentSettings;
  /** Absent where nothing is said of it. */
  readonly graph?: GraphSettings;
  /** Absent where nothing is said of it. */
  readonly web?: WebSettings;
  readonly limits: Limits;
  /** Model APIs that the proxy forwards to; absent where there are none. */
  readonly proxy?: ProxySettings;
  /** What is done to requests to model APIs; absent where nothing is. */
  readonly pipes?: Pipes;
  /** Where files for monitoring are written; absent for nowhere. */
  readonly monitoring?: MonitoringSettings;
}

export interface MonitoringSettings {
  /** Relative to the working directory of each process; null for no files. */
  readonly folder: string | null;
  /** Where Prometheus answers the queries of rules; absent where none has one. */
  readonly prometheusUrl?: string;
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

/** A mistake: the configuration is refused. */
export interface Problem {
  /** Dotted, as in the file: `tool.graph-update.group[1]`. */
  readonly path: string;
  readonly found: string;
  readonly write: string;
  /** `file:line:column` of what the path names, where it is in a file. */
  readonly position?: string;
}

/** Something legal that an author will want to know: cycles, dead ends, unreachable tools, unavailable tools. */
export interface Finding {
  readonly kind:
    | 'cycle'
    | 'dead_end'
    | 'unreachable_tool'
    | 'near_miss'
    | 'unknown_group'
    | 'unreachable_state'
    | 'never_available'
    | 'not_allowed'
    | 'unasked'
    | 'unavailable'
    | 'escalation'
    | 'toolless_agent'
    | 'nothing_deferred'
    | 'simplified'
    | 'narrowed'
    | 'many_tools'
    | 'endless_list'
    | 'suspect_text'
    | 'missing_tools'
    | 'unfit_example'
    | 'unset_variable'
    | 'unknown_strategy'
    | 'min_above_max'
    | 'open_network'
    | 'empty_condition'
    | 'no_network'
    | 'closed_to_tools';
  readonly path: string;
  readonly message: string;
}
