/** The names by which one acts: its own, and that of the person for whom it acts; null or absent for none. */
export interface Named {
  readonly actorId: string;
  readonly subjectId?: string | null;
}

/**
 * Whether both are one person to those who count persons: they have a name in common, however it is written. One who
 * acts by two credentials, or by an agent of its own, is one person.
 */
export function isSamePerson(one: Named, other: Named): boolean {
  const names = namesOf(other);
  return namesOf(one).some((name) => names.includes(name));
}

function namesOf({ actorId, subjectId = null }: Named): readonly string[] {
  return [actorId, ...(subjectId === null ? [] : [subjectId])].map((name) => name.normalize('NFKC').toLowerCase());
}
