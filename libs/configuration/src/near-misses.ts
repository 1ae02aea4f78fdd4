import { defaultGroup, nearMiss, quote, undefinedState, wildcard } from '@sluice/core';
import type { ConfiguredTool, Finding, GroupTree } from '@sluice/core';

interface Use {
  readonly tools: ConfiguredTool[];
  readonly key: 'group' | 'available_in_states' | 'state';
}

/**
 * Groups and states that one tool alone names and that nearly are the name of another: `anlysis` beside `analysis`,
 * `Read-Only` beside `read-only`. Each is legal, and most are mistyped.
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
