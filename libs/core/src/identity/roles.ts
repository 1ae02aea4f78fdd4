/**
 * The groups of these roles. A role that the configuration does not map gives nothing; without a map, names are
 * groups.
 */
export function groupsOf(
  names: readonly string[],
  roles: Readonly<Record<string, readonly string[]>> | undefined,
): readonly string[] {
  if (roles === undefined) return names;
  return [...new Set(names.flatMap((name) => (Object.hasOwn(roles, name) ? (roles[name] as readonly string[]) : [])))];
}
