/** Shorter ones are words that stand in every text, so they could not be kept out of one. */
const shortestToken = 8;
const longestToken = 8_192;

/** What keeps a text from being a credential, as the end of a sentence that repeats nothing of it; null if it can be one. */
export function whyUnusable(token: string): string | null {
  if (token.length < shortestToken) return `is shorter than ${shortestToken} characters`;
  if (token.length > longestToken) return `is longer than ${longestToken} characters`;
  // What else there is could not be sent in a header.
  if (!/^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(token)) return 'holds characters that no header can';
  return null;
}
