import {
  descriptionModes,
  mcpToolType,
  openApiToolType,
  quote,
  suggestion,
  wildcard,
  planToolType,
} from '@sluice/core';
import type {
  AgentSettings,
  ArgumentBounds,
  DescriptionMode,
  JsonObject,
  Lists,
  PlanSettings,
  Problem,
} from '@sluice/core';
import { readAgent } from './agent-entry.js';
import { readBounds } from './bounds.js';
import { readExamples, readIcon } from './for-clients.js';
import { configurationKeys } from './keys.js';
import { limitRanges } from './limits.js';
import { describe } from './problems.js';
import { Section } from './section.js';
import { readConfidence } from './confidence-entry.js';

/** Of `tool.<tool>.plan`. */
const planRanges = {
  max_plans: { byDefault: 3, most: 20 },
  max_steps: { byDefault: 12, most: 100 },
} as const;

/** `tool.<tool>.plan`: how the plans of runs are taken. Null for other types, where it may not be written. */
function readPlan(entry: Section, type: string | null): PlanSettings | null {
  if (type !== planToolType) {
    if (type !== null && entry.has('plan'))
      entry.problem(entry.at('plan'), 'a setting of plans', `\`type: ${planToolType}\`, or leave it out`);
    return null;
  }
  const section = entry.section('plan').closed(configurationKeys['tool.<tool>.plan']);
  const confidence = readConfidence(section);
  return {
    approve: section.flag('approve') ?? false,
    maxPlans: section.wholeNumber('max_plans', planRanges.max_plans),
    maxSteps: section.wholeNumber('max_steps', planRanges.max_steps),
    ...(confidence === null ? {} : { confidence }),
  };
}

export const longestToolSeconds = 3_600;

/** One entry of `tool` as it was written, checked by itself. */
export interface ToolEntry {
  readonly key: string;
  readonly path: string;
  /** Null if it is missing or unknown, which has been reported. */
  readonly type: string | null;
  readonly title: string;
  readonly description: string | null;
  readonly shortDescription: string | null;
  readonly descriptionMode: DescriptionMode | null;
  /** Null where nothing is written. */
  readonly deferLoading: boolean | null;
  /** Null if no tags are written. */
  readonly groups: readonly string[] | null;
  readonly states: readonly string[];
  readonly target: string | null;
  readonly mcpToolId: string | null;
  /** The connection it names; whether there is one of the name is seen with the connections. */
  readonly connection: string | null;
  readonly timeoutMs: number;
  /** Null where nothing is written. */
  readonly parkedMs: number | null;
  readonly icon: string | null;
  readonly examples: readonly JsonObject[];
  /** Null for what is no agent. */
  readonly agent: AgentSettings | null;
  /** Null for what takes no plan. */
  readonly plan: PlanSettings | null;
  /** Null where nothing is written. */
  readonly bounds: ArgumentBounds | null;
  /** The entry as it stands in the file. */
  readonly section: Section;
}

/** `tool`: a map from key to entry, or a list of entries whose `name` is the key. */
export function readEntries(
  value: unknown,
  given: { types: readonly string[]; toolMs: number; problems: Problem[]; lists: Lists },
): readonly ToolEntry[] {
  const read = (key: string, section: Section): ToolEntry => readEntry(key, section, given);
  if (Array.isArray(value)) {
    const keys = new Map<string, string>();
    return Array.from<unknown>(value).flatMap((item, place) => {
      const path = `tool[${String(place)}]`;
      const plain = new Section(item, path, given.problems);
      if (!plain.usable) return [];
      const key = plain.text('name', 'the tool’s key');
      if (key === null) {
        if (!plain.has('name'))
          plain.problem(
            plain.at('name'),
            describe(null),
            'the tool’s key: in a list, `name` is what tells tools apart',
          );
        return [];
      }
      const first = keys.get(key);
      if (first !== undefined) {
        plain.problem(plain.at('name'), `the key ${quote(key)}, which ${first} has already`, 'a key of its own');
        return [];
      }
      keys.set(key, path);
      return [read(key, new Section(item, path, given.problems, ` (tool ${quote(key)})`))];
    });
  }
  const section = new Section(value, 'tool', given.problems);
  return section.keys().flatMap((key) => {
    const entry = section.section(key);
    return entry.usable ? [read(key, entry)] : [];
  });
}

function readEntry(
  key: string,
  section: Section,
  { types, toolMs, lists }: { types: readonly string[]; toolMs: number; lists: Lists },
): ToolEntry {
  section.closed(configurationKeys['tool.<tool>']);
  if (key === '' || key === wildcard)
    section.problem(section.path, `the tool key ${quote(key)}`, 'a key of letters, digits, `_` and `-`');
  const type = readType(section, types);
  const seconds = section.wholeNumber('timeout_seconds', { byDefault: toolMs / 1_000, most: longestToolSeconds });
  if (type !== mcpToolType && type !== null && section.has('mcp_tool_id')) {
    section.problem(
      section.at('mcp_tool_id'),
      `a setting of ${mcpToolType}`,
      `\`type: ${mcpToolType}\`, or leave it out`,
    );
  }
  return {
    key,
    path: section.path,
    type,
    title: section.text('name', 'a title, or leave it out') ?? key,
    description: section.text('description', 'a sentence for the model, or leave it out'),
    shortDescription: section.text('short_description', 'when to use the tool, in one sentence, or leave it out'),
    descriptionMode: section.choice('description_mode', descriptionModes),
    deferLoading: section.flag('defer_loading'),
    groups: withoutWildcard(section, 'group', section.names('group', 'a list of group names, such as `["read-only"]`')),
    states: section.names('available_in_states', 'a list of state names, such as `["analysis"]`') ?? [wildcard],
    target: readTarget(section),
    mcpToolId: section.text('mcp_tool_id', 'the id of an entry under `mcp.tools`'),
    connection: section.text('connection', 'the id of an entry under `connections`'),
    timeoutMs: seconds * 1_000,
    parkedMs: section.has('parked_seconds')
      ? section.wholeNumber('parked_seconds', limitRanges.parked_seconds) * 1_000
      : null,
    icon: readIcon(section),
    examples: readExamples(section),
    agent: readAgent(section, type),
    plan: readPlan(section, type),
    bounds: readBounds(section, lists) ?? null,
    section,
  };
}

function readType(section: Section, types: readonly string[]): string | null {
  const known = [...types, mcpToolType, openApiToolType];
  const type = section.text('type', 'the tool’s type');
  if (type === null) {
    if (!section.has('type')) section.problem(section.at('type'), 'nothing', suggestion('', known));
    return null;
  }
  if (known.includes(type)) return type;
  section.problem(section.at('type'), `the unknown type ${quote(type)}`, suggestion(type, known));
  return null;
}

/** `*` works in a request's groups and in `available_in_states` only. */
function withoutWildcard(section: Section, key: string, names: readonly string[] | null): readonly string[] | null {
  if (!(names?.includes(wildcard) ?? false)) return names;
  section.problem(
    section.at(key),
    '`*`, which is a wildcard in requests only',
    'the names of the groups the tool is in',
  );
  return (names ?? []).filter((name) => name !== wildcard);
}

function readTarget(section: Section): string | null {
  const target = section.text('state', 'the name of the state after a successful call, or leave it out for no change');
  if (target !== wildcard) return target;
  return section.refuse('state', 'the name of one state: `*` is a wildcard in `available_in_states` only');
}
