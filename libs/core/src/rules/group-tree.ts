/**
 * Groups within groups (tool-groups.md 11.2): from a group to those directly below it, each by its path, as in
 * `{ knowledge: ['knowledge/read', 'knowledge/write'] }`.
 */
export type GroupTree = Readonly<Record<string, readonly string[]>>;

export const noGroupTree: GroupTree = Object.freeze({});

const separator = '/';

/** The path of a group within another. */
export function pathOf(parent: string | null, name: string): string {
  return parent === null ? name : parent + separator + name;
}

/** The group and all groups below it. */
export function withGroupsBelow(group: string, tree: GroupTree): readonly string[] {
  const below = Object.hasOwn(tree, group) ? (tree[group] as readonly string[]) : [];
  return [group, ...below.flatMap((child) => withGroupsBelow(child, tree))];
}

/** Whether the group is one of these, or is below one of them. */
export function isWithin(group: string, groups: readonly string[], tree: GroupTree): boolean {
  if (groups.includes(group)) return true;
  const end = group.lastIndexOf(separator);
  if (end === -1) return false;
  const parent = group.slice(0, end);
  // A slash alone makes no child: only what the configuration nests is nested.
  return Object.hasOwn(tree, parent) && (tree[parent] as readonly string[]).includes(group)
    ? isWithin(parent, groups, tree)
    : false;
}
