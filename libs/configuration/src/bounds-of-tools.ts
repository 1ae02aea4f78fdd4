import { isClientTool, partsOfPath, quote, suggestion } from '@sluice/core';
import type { ArgumentBounds, Configuration, ConfiguredTool, Lists } from '@sluice/core';
import { argumentNames, hasPath } from './argument-paths.js';
import { readBounds } from './bounds.js';
import { type IdentifiedTool, toolsByName } from './identities.js';
import type { Section } from './section.js';

/** By tool id. */
export type AgentArguments = Readonly<Record<string, ArgumentBounds>>;

/** `arguments` of an agent: by tool, the bounds of what it calls. */
export function readAgentArguments(agent: Section, tools: readonly IdentifiedTool[], lists: Lists): AgentArguments {
  const own = agent.section('arguments');
  const byName = toolsByName(tools);
  return Object.fromEntries(
    own.keys().flatMap((name): [string, ArgumentBounds][] => {
      const tool = byName.get(name);
      // What its arguments are the client says.
      const isClients = isClientTool(name);
      if (tool === undefined && !isClients)
        own.unknown(own.at(name), 'tool', name, suggestion(name, [...byName.keys()]));
      const bounds = readBounds(own, lists, name);
      const id = tool?.id ?? (isClients ? name : undefined);
      return id === undefined || bounds === undefined ? [] : [[id, bounds]];
    }),
  );
}

/** What has bounds of arguments. */
interface Bounding extends Required<Pick<Configuration, 'rules'>> {
  /** By the name of an agent. */
  readonly agentArguments: ReadonlyMap<string, AgentArguments>;
  readonly policy: Pick<Configuration['policy'], 'approvalRules'>;
}

/** Bounds of arguments that no tool they are about has: a misspelt path would bound nothing, or open nothing. */
export function refuseUnknownArguments(
  file: Section,
  tools: readonly ConfiguredTool[],
  identified: readonly IdentifiedTool[],
  { rules, agentArguments, policy: { approvalRules = [] } }: Bounding,
): void {
  const byId = new Map(tools.map(({ id, spec }) => [id, spec?.inputSchema]));
  const refuse = (section: Section, bounds: ArgumentBounds, ids: readonly string[]): void => {
    const schemas = ids.map((id) => byId.get(id)).filter((schema) => schema !== undefined);
    // Of a tool whose arguments are not known, any may be there.
    if (schemas.length < ids.length || ids.length === 0) return;
    for (const path of Object.keys(bounds)) {
      if (schemas.some((schema) => hasPath(schema, partsOfPath(path)))) continue;
      const names = [...new Set(schemas.flatMap(argumentNames))];
      section.problem(section.at(path), `the unknown argument ${quote(path)}`, suggestion(path, names));
    }
  };
  for (const { name, tools: ids, arguments: bounds } of rules)
    if (bounds !== undefined) refuse(file.section('rules').section(name).section('arguments'), bounds, ids);
  for (const { name, tools: ids, effects, unless } of approvalRules) {
    if (unless === undefined) continue;
    const ofEffects = tools.filter(({ spec }) => effects.includes(spec?.effect ?? 'external_side_effect'));
    const all = [...new Set([...ids, ...ofEffects.map(({ id }) => id)])];
    const asking = file.section('policy').section('approval').section('rules').section(name);
    refuse(asking.section('unless'), unless, all);
  }
  const byName = toolsByName(identified);
  for (const [agent, bounded] of agentArguments) {
    const ofAgent = file.section('agents').section(agent).section('arguments');
    for (const name of ofAgent.keys()) {
      const id = byName.get(name)?.id ?? '';
      const bounds = Object.hasOwn(bounded, id) ? bounded[id] : undefined;
      if (bounds !== undefined) refuse(ofAgent.section(name), bounds, [id]);
    }
  }
  for (const { id, entry } of identified)
    if (entry.bounds !== null) refuse(entry.section.section('arguments'), entry.bounds, [id]);
}
