import { whomInWords } from '../availability/in-words.js';
import type { Configuration } from '../settings/configuration.js';
import { argumentsInWords } from './compile-bounds.js';
import type { ArgumentBounds } from './types.js';

/** What one place of the configuration says of one argument of a tool, in words. */
export interface BoundInWords {
  /** The name of the rule; `tool.<key>` for an entry’s own bounds, `agents.<agent>` for those of agents. */
  readonly rule: string;
  /** Which calls it binds; null for all of them. */
  readonly whom: string | null;
  /** The path of the argument. */
  readonly argument: string;
  /** All of it must hold: `must be a number of at most 500`. */
  readonly words: readonly string[];
}

type Bounding = Pick<Configuration, 'tools' | 'rules' | 'agentArguments' | 'agents' | 'lists'>;

/** By the id of a tool: everything that bounds its arguments. */
export function boundsInWords({
  tools,
  rules = [],
  agentArguments = {},
  agents = {},
  lists,
}: Bounding): ReadonlyMap<string, readonly BoundInWords[]> {
  const byTool = new Map<string, BoundInWords[]>();
  const add = (toolId: string, rule: string, whom: string | null, bounds: ArgumentBounds): void => {
    const all = argumentsInWords(bounds, lists).map((one) => ({ rule, whom, ...one }));
    byTool.set(toolId, [...(byTool.get(toolId) ?? []), ...all]);
  };
  for (const { id, key, arguments: bounds } of tools) if (bounds !== undefined) add(id, `tool.${key}`, null, bounds);
  for (const [id, bounds] of Object.entries(agentArguments))
    add(id, 'agents.default', 'an agent’s model calls it', bounds);
  for (const [agent, { arguments: own = {} }] of Object.entries(agents))
    for (const [id, bounds] of Object.entries(own)) add(id, `agents.${agent}`, `the agent ${agent} calls it`, bounds);
  for (const { name, whom, tools: named, arguments: bounds } of rules)
    if (bounds !== undefined)
      for (const id of named) add(id, name, whom === undefined ? null : whomInWords(whom), bounds);
  return byTool;
}
