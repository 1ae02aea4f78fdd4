/** Where a quoted text stands, and how it was found. */
interface FoundQuote {
  readonly start: number;
  readonly end: number;
  /** `typography`: where white space, quotation marks, dashes or hyphens at line ends differ. */
  readonly match: 'exact' | 'typography';
  /** How often it stands there. */
  readonly occurrences: number;
}

/** Finds the quote, word by word; the given one of several, from 1. Null if it is not there. */
export function findQuote(text: string, quote: string, occurrence = 1): FoundQuote | null {
  const exact = placesOf(text, quote.trim());
  if (exact.length > 0) {
    const start = exact[occurrence - 1];
    return start === undefined
      ? null
      : { start, end: start + quote.trim().length, match: 'exact', occurrences: exact.length };
  }
  const folded = fold(text);
  const wanted = fold(quote).text.trim();
  if (wanted === '') return null;
  const places = placesOf(folded.text, wanted);
  const at = places[occurrence - 1];
  if (at === undefined) return null;
  const start = folded.from[at] as number;
  const last = folded.from[at + wanted.length - 1] as number;
  return { start, end: last + 1, match: 'typography', occurrences: places.length };
}

function placesOf(text: string, wanted: string): number[] {
  const found: number[] = [];
  if (wanted === '') return found;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

const same: Readonly<Record<string, string>> = {
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '‘': "'",
  '’': "'",
  '‚': "'",
  '–': '-',
  '—': '-',
  '‑': '-',
  '−': '-',
};

/** The text in one typography, with where each of its characters came from. */
function fold(text: string): { readonly text: string; readonly from: readonly number[] } {
  const parts: string[] = [];
  const from: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    // A soft hyphen shows only where a line ends.
    if (character === '\u00ad') continue;
    if (/\s/.test(character)) {
      if (parts.at(-1) === ' ') continue;
      parts.push(' ');
    } else {
      parts.push(same[character] ?? character);
    }
    from.push(at);
  }
  return { text: parts.join(''), from };
}
