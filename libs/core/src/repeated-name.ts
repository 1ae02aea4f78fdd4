/** An object or list that is open: the names an object has so far, the place that a list is at. */
type Open =
  | { readonly isList: false; readonly names: Set<string>; at: string; isNameNext: boolean }
  | { readonly isList: true; at: number };

/**
 * The path of the first name that stands twice in one object of a JSON text, as `history[0].thought`; null where each
 * stands once. JSON.parse keeps the last one and says nothing. The text must be JSON: this looks at strings and
 * brackets alone, in one pass and without recursion.
 */
export function repeatedName(text: string): string | null {
  const open: Open[] = [];
  for (let at = 0; at < text.length; at++) {
    const top = open.at(-1);
    switch (text[at]) {
      case '{':
        open.push({ isList: false, names: new Set(), at: '', isNameNext: true });
        break;
      case '[':
        open.push({ isList: true, at: 0 });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (top?.isList === true) top.at++;
        else if (top !== undefined) top.isNameNext = true;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (top?.isList === false && top.isNameNext) {
          top.at = JSON.parse(text.slice(at, end + 1)) as string;
          top.isNameNext = false;
          if (top.names.has(top.at)) return pathOf(open);
          top.names.add(top.at);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return null;
}

/** Where the quote is that ends the string: the next one without an odd number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length - 1;
}

function pathOf(open: readonly Open[]): string {
  return open
    .map(({ isList, at }) => (isList ? `[${at}]` : `.${at}`))
    .join('')
    .replace(/^\./, '');
}
