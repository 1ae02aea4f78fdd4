/** About 30 tokens of English. */
const longest = 160;

/** The first sentence of a description, for a tool that has no short one. It is cut at a word where it is long. */
export function firstSentence(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  const end = /[.!?](?=\s+[\p{Lu}\p{N}“"‘']|$)/u.exec(line);
  const sentence = end === null ? line : line.slice(0, end.index + 1);
  if (sentence.length <= longest) return sentence;
  const cut = sentence.slice(0, longest);
  const space = cut.lastIndexOf(' ');
  return `${(space > longest / 2 ? cut.slice(0, space) : cut).toWellFormed().replace(/[\s,;:]+$/, '')} …`;
}
