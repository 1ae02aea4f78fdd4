import { defaultGroup, undefinedState, wildcard } from '../rules/defaults.js';
import type { GroupTree } from '../rules/group-tree.js';
import { quote } from './problems.js';
import { nearest } from './suggest.js';
import type { ConfiguredTool, Finding } from './types.js';

/** Names shorter than this are often meant to differ by one letter: `v1` and `v2`. */
const shortest = 5;

interface Use {
  readonly tools: ConfiguredTool[];
  readonly key: 'group' | 'available_in_states' | 'state';
}

/**
 * Groups and states that one tool alone names and that nearly are the name of another: `anlysis` beside `analysis`, `Read-Only` beside
 * `read-only`. Each is legal, and most are mistyped.
 */
export function findNearMisses(
  tools: readonly ConfiguredTool[],
  tree: GroupTree,
  at: (tool: ConfiguredTool) => string,
): readonly Finding[] {
  const groups = new Map<string, Use>();
  const states = new Map<string, Use>();
  const note = (uses: Map<string, Use>, name: string, tool: ConfiguredTool, key: Use['key']): void => {
    const use = uses.get(name);
    if (use === undefined) uses.set(name, { tools: [tool], key });
    else if (!use.tools.includes(tool)) use.tools.push(tool);
  };
  for (const tool of tools) {
    for (const group of tool.groups) note(groups, group, tool, 'group');
    for (const state of tool.states) if (state !== wildcard) note(states, state, tool, 'available_in_states');
    if (tool.target !== null) note(states, tool.target, tool, 'state');
  }
  return [
    ...nearMisses('group', groups, [defaultGroup, ...Object.keys(tree)], at),
    ...nearMisses('state', states, [undefinedState], at),
  ];
}

function nearMisses(
  what: 'group' | 'state',
  uses: ReadonlyMap<string, Use>,
  known: readonly string[],
  at: (tool: ConfiguredTool) => string,
): readonly Finding[] {
  return [...uses].flatMap(([name, { tools, key }]): readonly Finding[] => {
    const [tool, ...others] = tools;
    if (tool === undefined || others.length > 0 || known.includes(name)) return [];
    const common = [
      ...known,
      ...[...uses].filter(([other, use]) => other !== name && use.tools.length > 1).map(([other]) => other),
    ];
    const meant = nearMiss(name, common);
    if (meant === undefined) return [];
    const message = `Only ${tool.key} names the ${what} ${quote(name)}. If ${quote(meant)} is meant, write that.`;
    return [{ kind: 'near_miss', path: `${at(tool)}.${key}`, message }];
  });
}

/** The name that is probably meant: it nearly is this one, and the two are not likely to differ on purpose. */
export function nearMiss(name: string, common: readonly string[]): string | undefined {
  const meant = nearest(name, common);
  if (meant === undefined || differsByNumber(name, meant)) return undefined;
  return name.length < shortest && name.toLowerCase() !== meant.toLowerCase() ? undefined : meant;
}

/** `phase-1` and `phase-2` are two names. */
function differsByNumber(one: string, other: string): boolean {
  return one !== other && one.replaceAll(/\d+/g, '#') === other.replaceAll(/\d+/g, '#');
}
