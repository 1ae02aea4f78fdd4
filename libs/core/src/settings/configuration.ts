import type { AvailabilityRule } from '../availability/types.js';
import type { ArgumentBounds, Lists } from '../bounds/types.js';
import type { DescriptionSettings } from '../descriptions/types.js';
import type { GroupTree } from '../rules/group-tree.js';
import type { MemorySettings, SupervisorSettings } from './agent-types.js';
import type { AuthorizationSettings } from './authorization-types.js';
import type { ConfiguredTool } from './configured-tool.js';
import type { ConnectionSettings } from './connection-types.js';
import type { AgentDiscovery, Pipes } from './discovery-types.js';
import type { IdentitySettings } from './identity-types.js';
import type { McpServer } from './mcp-types.js';
import type { ModelSettings } from './model-types.js';
import type { NamedAgents, StrategySettings } from './named-agent.js';
import type { DocumentSettings, GraphSettings, KnowledgeSettings, WebSettings } from './pack-types.js';
import type { NotifySettings } from './notify-types.js';
import type { Limits, Policy } from './policy-types.js';
import type { ProxySettings } from './proxy-types.js';
import type { HookSettings } from './hook-types.js';
import type { ScheduleSettings } from './schedule-types.js';

/** From a group to those that stand in for it, in order. */
export type GroupFallbacks = Readonly<Record<string, readonly string[]>>;

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
  /** Lists that bounds name; absent where none is written. */
  readonly lists?: Lists;
  /** The agents by name, and what the default agent has beside the settings here; absent where nothing is written. */
  readonly agents?: NamedAgents;
  /** In what evaluatorFor makes of a configuration, whose it is: on the log there is none. */
  readonly agent?: string;
  /** By tool id: bounds of what agents call; absent where none are written. */
  readonly agentArguments?: Readonly<Record<string, ArgumentBounds>>;
  readonly identity: IdentitySettings;
  readonly policy: Policy;
  /** Null: everybody is allowed what policy allows, which is said at start. */
  readonly authorization: AuthorizationSettings | null;
  readonly instructions: string;
  /** How runs come to their answers, and what requests may choose; absent where all work by `react`. */
  readonly strategy?: StrategySettings;
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
  /** Who is sent webhooks of what; absent where there are no subscriptions. */
  readonly notify?: NotifySettings;
  /** Requests that are made at certain times; absent where there are none. */
  readonly schedules?: readonly ScheduleSettings[];
  /** Requests that webhooks of other systems make; absent where there are none. */
  readonly hooks?: readonly HookSettings[];
  /** Where files for monitoring are written; absent for nowhere. */
  readonly monitoring?: MonitoringSettings;
}

export interface MonitoringSettings {
  /** Relative to the working directory of each process; null for no files. */
  readonly folder: string | null;
  /** Where Prometheus answers the queries of rules; absent where none has one. */
  readonly prometheusUrl?: string;
}
