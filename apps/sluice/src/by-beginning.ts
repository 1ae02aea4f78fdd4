/** Less names nothing: a variable that was left empty must not choose what happens to be there. */
const fewestCharacters = 4;

/**
 * The last one with this name, or with the only name that begins so; undefined if there is none. Throws a sentence
 * for a beginning that is too short or that several names have. `what` says what is named.
 */
export function byBeginning<T>(
  all: readonly T[],
  written: string,
  what: string,
  nameOf: (one: T) => string,
): T | undefined {
  if (written === '') throw new Error(`Name the ${what}.`);
  const whole = all.findLast((one) => nameOf(one) === written);
  if (whole !== undefined) return whole;
  if (written.length < fewestCharacters)
    throw new Error(`${written} is too little to name the ${what} by. Write at least ${fewestCharacters} characters.`);
  const found = all.filter((one) => nameOf(one).startsWith(written));
  if (new Set(found.map(nameOf)).size > 1)
    throw new Error(`More than one ${what} begins with ${written}. Write more of it.`);
  return found.at(-1);
}
