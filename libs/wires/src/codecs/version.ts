/** Whether a model’s version, as its name has it, is this one or a later one; a name without one is none. */
export function isFrom(major: string, minor: string, least: number, leastMinor: number): boolean {
  if (major === '') return false;
  return Number(major) > least || (Number(major) === least && Number(minor) >= leastMinor);
}
