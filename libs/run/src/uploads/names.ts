import type { StepContent } from '@sluice/contracts';

/** Images and files that a question may have. */
export const mostQuestionContent = 20;

/** Characters of a file's name, and of a media type, that a record has room for. */
export const longestContentName = 255;

/** What content of a question is, by its bytes. */
const questionContentKinds = ['image', 'audio', 'file'] as const;

/**
 * What is wrong with the names of a question's content, as a sentence; null if nothing is. Whether the store has it,
 * the gateway finds out: a request that came another way, and names what its run does not have, goes on without it.
 */
export function questionContentProblem(content: readonly StepContent[] | null): string | null {
  if (content === null) return null;
  if (content.length > mostQuestionContent)
    return `content has ${content.length} entries and the limit is ${mostQuestionContent}. Ask with fewer.`;
  const seen = new Map<string, number>();
  for (const [place, { hash, type, size, kind, name }] of content.entries()) {
    const at = `content[${place}]`;
    if (!/^[0-9a-f]{64}$/.test(hash))
      return `${at}.hash is no name of content: write the 64 hexadecimal digits that the upload was answered with.`;
    const first = seen.get(hash);
    if (first !== undefined) return `${at} is content[${first}] again. Name each content once.`;
    seen.set(hash, place);
    if (!/^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/.test(type) || type.length > longestContentName)
      return `${at}.type is no media type. Write one such as image/png.`;
    if (size < 0) return `${at}.size is negative. Write how many bytes it has.`;
    if (!(questionContentKinds as readonly string[]).includes(kind))
      return `${at}.kind is not known: write ${questionContentKinds.join(', ')}.`;
    if (name !== null && (name.length > longestContentName || !name.isWellFormed()))
      return `${at}.name must be at most ${longestContentName} characters of well-formed text.`;
  }
  return null;
}
