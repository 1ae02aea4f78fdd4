/**
 * What is done with texts of an MCP server that hide something or speak to the model: hidden characters are taken
 * out; what has such a text is held back; or they go on as they are.
 */
export const textModes = ['strip', 'hold_back', 'pass'] as const;
export type TextMode = (typeof textModes)[number];
export const textModeByDefault: TextMode = 'strip';

/** Escape sequences of terminals, whole: without its first character the rest of one would stand in the text. */
const escapes =
  // eslint-disable-next-line no-control-regex -- that is what is looked for
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B\]|\u009D)[^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)?|\u001B[@-Z\\^_a-z0-9=>]/;
const control = /(?![\n\t\r])\p{Cc}|\r(?!\n)|[\uFFF9-\uFFFB]/u;
/** A joiner or a variant selector has a use right behind a letter or in an emoji, where it stands alone. */
const behind = /(?<=(?!\p{DI})[\p{L}\p{M}\p{N}\p{Emoji}\p{Extended_Pictographic}])/u;
const alone = /(?:\u200C|\u200D|\uFE0E|\uFE0F)(?!\p{DI})|\uFE0F(?=\u200D\p{Extended_Pictographic})/u;
const joined = /(?<=\uFE0F)\u200D(?=\p{Extended_Pictographic})/u;
const used = `${behind.source}(?:${alone.source})|${joined.source}`;
const hidden = new RegExp(`${escapes.source}|${control.source}|(?!${used})[\\p{DI}\\p{Bidi_Control}]`, 'gu');

/** Characters of a text in which phrases are looked for: longer descriptions are not offered. */
const searched = 16_384;

/**
 * What a description has no reason to say. A phrase counts only where it speaks to the model: “ignore” alone stands
 * in many honest ones.
 */
const phrases = [
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.!?]{0,40}\b(?:previous|prior|above|earlier|preceding|system|developer|user['’]?s?)\b[^.!?]{0,20}\b(?:instructions?|prompts?|rules|guidelines|directions|messages)\b/i,
  /\b(?:do not|don['’]t|never|must not|should not|without)\b[^.!?]{0,30}\b(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|notify|notifying|alert|alerting)\b[^.!?]{0,40}\b(?:the user|users?|human|anyone|anybody)\b/i,
  /<\/?\s*(?:important|system|secret|hidden|admin|assistant|instructions?|critical)\b[^<>]{0,40}>/i,
  /<\|[a-z_]{1,30}\|>|\[\/?INST\]|<<\/?SYS>>/i,
  /\b(?:reveal|print|output|repeat|include|send|pass|append)\b[^.!?]{0,40}\b(?:system prompt|your (?:instructions|prompt)|(?:chat|conversation) history|(?:whole|entire|full) conversation)\b/i,
  /\byou are now\b|\bnew (?:system )?instructions\s*:/i,
  /\b(?:read|open|load|send|pass|include|copy)\b[^!?]{0,60}(?:\bid_(?:rsa|ed25519)\b|~?\/\.(?:ssh|aws|gnupg|netrc)\b)/i,
];

/** The text without hidden characters: those without width, marks of direction, tags, escape sequences. */
export function withoutHidden(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(hidden, '');
}

/** The hidden characters of a text by their code points, each once; empty where it has none. */
export function hiddenIn(text: string): readonly string[] {
  const points = new Set<string>();
  for (const [found] of text.matchAll(hidden)) points.add(codePoint(found));
  return [...points];
}

/** The words of a text that speak to the model and not about the tool; null where none do. */
export function addressesModel(text: string): string | null {
  const plain = withoutHidden(text.slice(0, searched)).normalize('NFKC').replace(/\s+/g, ' ');
  for (const phrase of phrases) {
    const [found] = phrase.exec(plain) ?? [];
    if (found !== undefined) return found;
  }
  return null;
}

function codePoint(found: string): string {
  return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
