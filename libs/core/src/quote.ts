/** Longest piece of a text that a message repeats. */
const shownCharacters = 60;

/** A text in double quotes, cut if it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text);
}

/** Names in a sentence: `a, b and c`. */
export function sentenceList(names: readonly string[], most = 20): string {
  const shown = names.slice(0, most);
  if (names.length > most) return `${shown.join(', ')} and ${String(names.length - most)} more`;
  const last = shown.pop();
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} and ${last ?? ''}`;
}

/** Of names in a log line, at most. */
const namesInLog = 10;

/** Names for a log line: the first ones, and how many more there are, also of those that the list does not have. */
export function logNames(names: readonly string[], count = names.length): readonly string[] {
  const shown = names.slice(0, namesInLog);
  return count <= shown.length ? shown : [...shown, `and ${count - shown.length} more`];
}
