/**
 * Refuses what an action does not take, which would be ignored otherwise. `taken` are its options, `words` how many
 * words it takes.
 */
export function refuseSurplus(
  given: { readonly values: Readonly<Record<string, unknown>>; readonly words: readonly string[] },
  { taken, words }: { readonly taken: readonly string[]; readonly words: number },
  usage: string,
): void {
  if (given.words.length > words) throw new Error(`That is more than the command takes.\n${usage}`);
  for (const [name, value] of Object.entries(given.values)) {
    if (value === undefined || value === false || taken.includes(name)) continue;
    throw new Error(`The command takes no --${name} here.\n${usage}`);
  }
}

/** What to say to an action that is missing or unknown. */
export function sayWhat(about: string, action: string | undefined): string {
  return action === undefined
    ? `Say what to do with ${about}.`
    : `There is no "${action}"; say what to do with ${about}.`;
}
