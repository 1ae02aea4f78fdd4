/** Tokens of a text as GPT-4o and later models count them; other models’ counts are some percent away. */
export async function tokenCounter(): Promise<(text: string) => number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // A text may hold what looks like a special token; it counts as the text it is.
  return (text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
}
