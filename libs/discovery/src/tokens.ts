/** Words that say nothing about what a tool does: forty of English. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'after all also and any are because been but can could for from ' +
    'had has have how into its not our please should that the their ' +
    'them then there this was were what when which will with would you your'
  ).split(' '),
);

const shortest = 3;

/**
 * The words of a text that count for the relevance score: lower case, ASCII letters and digits, at least three
 * characters, no stop word. Repeats are kept.
 */
export function tokensOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.filter((word) => word.length >= shortest && !stopWords.has(word));
}
