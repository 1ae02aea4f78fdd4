export const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const letterN = 0x6e;

/** Where the next character that is no space stands. */
export function afterSpace(text: { charCodeAt(at: number): number }, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;)
    code = text.charCodeAt(++at);
  return at;
}

/** Where the next member or item begins, or its bracket closes. */
export function afterComma(text: string, at: number): number {
  const next = afterSpace(text, at);
  return text.charCodeAt(next) === comma ? afterSpace(text, next + 1) : next;
}

/** Strings of a schema are short: a look at each character of them is faster than a search. */
const shortString = 48;

/**
 * Where the items of the list that begins here begin and end, by turns, and where the list ends; null where none does.
 * The text may be anything: whether the list is JSON is not known.
 */
export function itemRanges(text: string, start: number): { readonly items: number[]; readonly end: number } | null {
  if (text.charCodeAt(start) !== openBracket) return null;
  const { length } = text;
  const items: number[] = [];
  let depth = 0;
  let from = afterSpace(text, start + 1);
  if (text.charCodeAt(from) === closeBracket) return { items, end: from + 1 };
  let end = from;
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = closingQuote(text, at + 1);
      if (at < 0) return null;
      end = at + 1;
    } else if (code === openBrace || code === openBracket) depth++;
    else if (code === closeBrace || code === closeBracket) {
      if (depth === 0) {
        if (code === closeBrace) return null;
        items.push(from, end);
        return { items, end: at + 1 };
      }
      depth--;
      end = at + 1;
    } else if (code === comma && depth === 0) {
      items.push(from, end);
      from = afterSpace(text, at + 1);
      at = from - 1;
    } else if (code > 0x20) end = at + 1;
  }
  return null;
}

/** Where the string ends whose characters begin here; -1 where it does not. */
function closingQuote(text: string, from: number): number {
  const near = Math.min(text.length, from + shortString);
  let at = from;
  for (; at < near; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  for (at = text.indexOf('"', at); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - 1 - backslashes >= from && text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}

/** Where the value that begins here ends. */
export function endOf(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return endOfString(text, start);
  if (first !== openBrace && first !== openBracket) return endOfScalar(text, start);
  let depth = 0;
  for (let at = start; ; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === openBrace || code === openBracket) depth++;
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return at + 1;
  }
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}

function endOfScalar(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at++;
  return at;
}
