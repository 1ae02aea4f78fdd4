import { defaultAgent } from '../availability/types.js';
import type { Configuration } from '../settings/configuration.js';
import type { NamedAgents } from '../settings/named-agent.js';

/** Characters of an agent’s name. */
export const longestAgent = 64;

/** Which agent a request asks; a call that a request names itself asks none. */
export interface AgentChoice {
  readonly agent: string | null;
  readonly call: object | null;
  /** The text of its client’s own tools; absent or null where it brings none. */
  readonly clientTools?: string | null;
}

/** The name of the agent that the request asks. */
export function agentName({ agent }: Pick<AgentChoice, 'agent'>): string {
  return agent === null || agent === '' ? defaultAgent : agent;
}

/** Whether there is an agent of this name: the default agent needs no entry. */
export function hasAgent(agents: NamedAgents | undefined, name: string): boolean {
  return name === defaultAgent || (agents !== undefined && Object.hasOwn(agents, name));
}

/** All names of agents: those that requests ask, and the keys of tools that are agents. */
export function knownAgents({ agents = {}, tools }: Pick<Configuration, 'agents' | 'tools'>): readonly string[] {
  const called = tools.flatMap(({ key, agent }) => (agent === undefined ? [] : [key]));
  return [...new Set([defaultAgent, ...Object.keys(agents), ...called])];
}
