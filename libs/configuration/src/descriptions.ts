import {
  alwaysFullTypes,
  deferredSchemas,
  descriptionModes,
  loadToolsetType,
  quote,
  readFileType,
  suggestion,
} from '@sluice/core';
import type { Configuration, ConfiguredTool, DescriptionMode, DescriptionSettings, Finding } from '@sluice/core';
import type { Groups } from './group-map.js';
import { type IdentifiedTool, toolsByName } from './identities.js';
import { configurationKeys } from './keys.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

const deferredAboveRange = { byDefault: 0, most: 10_000 } as const;

/** The tools that are described. */
export interface DescribedTools {
  readonly tools: readonly IdentifiedTool[];
  readonly categories: readonly string[];
  readonly groups: Groups;
}

/** How the agent’s tools are described, and the mode of each tool. */
export interface Descriptions {
  /** Empty where nothing is deferred. */
  readonly settings: Pick<Configuration, 'descriptions'>;
  modeOf(tool: IdentifiedTool, category: string | undefined): DescriptionMode;
}

/**
 * `agents.default`: which tools are described in full to the agent’s model. A tool’s own mode counts first, then the
 * list of those that are always full, then the mode of its pack, then that of the agent.
 */
export function readDescriptions(agent: Section, { tools, categories, groups }: DescribedTools): Descriptions {
  const ofAgent = agent.choice('description_mode', descriptionModes);
  const packs = readPacks(agent.section('packs'), categories);
  const alwaysFull = readAlwaysFull(agent, tools);
  const deferredGroups = readGroups(agent, groups, tools);
  const deferredSchema = agent.choice('deferred_schema', deferredSchemas) ?? 'minimal';
  const readBeforeUse = agent.flag('read_before_use') ?? false;
  const deferredAbove = agent.wholeNumber('deferred_above', deferredAboveRange);
  const modeOf: Descriptions['modeOf'] = (tool, category) => {
    // The others rest on these: with the one their pages are read, with the other groups are loaded.
    if (tool.entry.type === readFileType || tool.entry.type === loadToolsetType) return 'full';
    if (tool.entry.descriptionMode !== null) return tool.entry.descriptionMode;
    if (alwaysFull.has(tool.id)) return 'full';
    return packs.get(category ?? '') ?? ofAgent ?? 'full';
  };
  const isUsed =
    ofAgent === 'deferred' ||
    [...packs.values()].includes('deferred') ||
    tools.some(({ entry }) => entry.descriptionMode === 'deferred') ||
    Object.keys(deferredGroups).length > 0;
  const descriptions: DescriptionSettings = { deferredSchema, deferredAbove, readBeforeUse, deferredGroups };
  return { settings: isUsed ? { descriptions } : {}, modeOf };
}

/** Short texts that no model will see: nothing is wrong, and it is hardly meant so. */
export function findAboutDescriptions(
  tools: readonly ConfiguredTool[],
  allowed: readonly string[],
): readonly Finding[] {
  const some = tools.some(({ descriptionMode }) => descriptionMode === 'deferred');
  if (!some || tools.some(({ type, id }) => type === readFileType && allowed.includes(id))) return [];
  const message = `Descriptions are deferred, and the policy allows no tool of the type ${readFileType} with which an agent could read them, so all are sent in full.`;
  return [{ kind: 'nothing_deferred', path: 'agents.default.description_mode', message }];
}

function readPacks(section: Section, categories: readonly string[]): ReadonlyMap<string, DescriptionMode> {
  return new Map(
    section.keys().flatMap((name): (readonly [string, DescriptionMode])[] => {
      if (!categories.includes(name))
        section.problem(section.at(name), `the pack ${quote(name)}, which no tool is of`, suggestion(name, categories));
      const pack = section.section(name).closed(configurationKeys['agents.default.packs.<pack>']);
      const mode = pack.choice('description_mode', descriptionModes);
      return mode === null ? [] : [[name, mode]];
    }),
  );
}

function readAlwaysFull(agent: Section, tools: readonly IdentifiedTool[]): ReadonlySet<string> {
  const names = agent.names('always_full', 'a list of keys or ids of tools, such as `["read_file"]`');
  if (names === null)
    return new Set(tools.filter(({ entry }) => alwaysFullTypes.includes(entry.type ?? '')).map(({ id }) => id));
  const byName = toolsByName(tools);
  return new Set(
    names.flatMap((name, place) => {
      const tool = byName.get(name);
      if (tool !== undefined) return [tool.id];
      const write = suggestion(name, [...byName.keys()]);
      agent.problem(agent.itemAt('always_full', place), `${quote(name)}, which is no tool`, write);
      return [];
    }),
  );
}

/** `deferred_groups`: a map from group to the line that a model reads, or a list of groups. */
function readGroups(
  agent: Section,
  { tags, open }: Groups,
  tools: readonly IdentifiedTool[],
): Readonly<Record<string, string | null>> {
  const value = agent.value('deferred_groups');
  const written = Array.isArray(value) ? null : agent.section('deferred_groups');
  const names = written?.keys() ?? agent.names('deferred_groups', 'a list of groups') ?? [];
  const known = [...new Set([...[...tags.values()].flat(), ...open])];
  const lines = names.map((name): [string, string | null] => {
    const path = `${agent.at('deferred_groups')}.${name}`;
    if (!known.includes(name))
      agent.problem(path, `the group ${quote(name)}, which has no tools`, suggestion(name, known));
    return [name, written?.text(name, 'a line that says what the group is for, or nothing') ?? null];
  });
  if (names.length > 0 && !tools.some(({ entry }) => entry.type === loadToolsetType))
    agent.problem(
      agent.at('deferred_groups'),
      `${describe(value)}, and no tool that loads them`,
      `a tool of \`type: ${loadToolsetType}\` under \`tool\`, or leave it out`,
    );
  return Object.fromEntries(lines);
}
