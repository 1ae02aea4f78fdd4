import type { ArgumentBounds } from '../bounds/types.js';
import type { JsonObject } from '../json.js';
import type { DescriptionMode, DescriptionSettings } from '../descriptions/types.js';
import type { ToolEffect } from '../tool/types.js';
import type { MemorySettings, StrategyName, SupervisorSettings } from './agent-types.js';
import type { AgentDiscovery } from './discovery-types.js';
import type { Budgets, Limits } from './policy-types.js';

/** How an agent’s runs come to their answers, and what requests may choose. */
export interface StrategySettings {
  readonly byDefault: StrategyName;
  readonly forRequests: readonly StrategyName[];
  /** Strategies that `auto` chooses from; absent for all. */
  readonly auto?: readonly StrategyName[];
}

/** Some callers: those that every list which is written names. */
export interface Callers {
  /** Principals, as `user:ann`. */
  readonly principals?: readonly string[];
  readonly tenants?: readonly string[];
  /** Groups of which the caller’s credential permits one. */
  readonly groups?: readonly string[];
}

/** The limits that an agent’s entry can lower. */
export type AgentLimits = Partial<Pick<Limits, 'maxIterations' | 'runMs' | 'modelMs' | 'callsPerTurn' | 'parkedMs'>>;

/**
 * An agent’s entry: what its runs have of their own. What is absent is as for every agent, where `null` says that the
 * agent has none of it.
 */
export interface NamedAgent {
  /** Says what it is for. */
  readonly description?: string;
  readonly instructions?: string;
  /** A JSON Schema that its answers have to fit, where the request gives none. */
  readonly answerSchema?: JsonObject;
  /** What its runs may ask for at most. */
  readonly groups?: readonly string[];
  /** Who may ask it; absent for everybody. */
  readonly mayAsk?: Callers;
  /** Who may cancel its runs beside those who asked. */
  readonly mayCancel?: Callers;
  /** Names of models of the configuration, in the order in which they are asked. */
  readonly models?: readonly string[];
  readonly strategy?: StrategySettings;
  readonly supervisor?: SupervisorSettings;
  readonly memory?: MemorySettings | null;
  readonly agentDiscovery?: AgentDiscovery | null;
  readonly descriptions?: DescriptionSettings | null;
  /** By tool id, where it is another one than every agent’s. */
  readonly descriptionModes?: Readonly<Record<string, DescriptionMode>>;
  /** Names of its clients’ own tools that it takes, where `*` stands for any characters; absent for none. */
  readonly clientTools?: readonly string[];
  /** By such a name: what a client’s tool can change, where that is not the outside. The first that fits counts. */
  readonly clientEffects?: Readonly<Record<string, ToolEffect>>;
  /** By tool id: bounds of what it calls, beside those of every agent. */
  readonly arguments?: Readonly<Record<string, ArgumentBounds>>;
  /** Not above those of every run. */
  readonly limits?: AgentLimits;
  /** The lower of these and those of the policy count. */
  readonly budgets?: Budgets;
}

/** By name. */
export type NamedAgents = Readonly<Record<string, NamedAgent>>;
