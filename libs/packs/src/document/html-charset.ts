import { Parser } from 'htmlparser2';

/**
 * Browsers look for a declaration in the first 1,024 bytes and start over where a later one says otherwise; this
 * looks once, further.
 */
const lookedAt = 65_536;

/**
 * The text of an HTML page, by what says its charset: its byte order mark, the header it came with, UTF-16 as it
 * shows itself, the page’s own declaration, which is a `meta` or XML’s; else UTF-8, and Windows-1252 where it is not
 * that.
 */
export function htmlText(bytes: Uint8Array, header: string | null): string {
  const charset = byMark(bytes) ?? labelled(header) ?? asUtf16(bytes) ?? declared(bytes);
  return charset === null ? undeclared(bytes) : new TextDecoder(charset).decode(bytes);
}

/** UTF-8 where it is sound, else Windows-1252, which every sequence of bytes is. */
export function undeclared(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

export function byMark([first, second, third]: Uint8Array): string | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : null;
}

/** The encoding that a label names, as browsers read it; null for none and for one that is not known. */
export function labelled(label: string | null | undefined): string | null {
  if (label === null || label === undefined) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** UTF-16 without a mark: a page begins with ASCII, so every second byte is 0. */
function asUtf16([first, second, third, fourth]: Uint8Array): string | null {
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return 'utf-16be';
  return first !== 0 && second === 0 && third !== 0 && fourth === 0 ? 'utf-16le' : null;
}

/** A page whose declaration could be read as ASCII is not in UTF-16, whatever it says. */
function declared(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, lookedAt)).toString('latin1');
  const [, , ofXml] = /^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*(["'])([\w.:-]{1,40})\1/.exec(head) ?? [];
  const charset = inMeta(head) ?? labelled(ofXml);
  return charset?.startsWith('utf-16') === true ? 'utf-8' : charset;
}

function inMeta(head: string): string | null {
  let found: string | null = null;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (name !== 'meta' || found !== null) return;
      const isType = attributes['http-equiv']?.toLowerCase() === 'content-type';
      const content = isType ? charsetIn(attributes['content'] ?? '') : null;
      found = labelled(attributes['charset'] ?? content);
    },
  });
  parser.end(head);
  return found;
}

/** The charset of a content type; null if it names none. */
export function charsetIn(contentType: string): string | null {
  return /charset\s*=\s*["']?\s*([\w.:+-]{1,40})/i.exec(contentType)?.[1] ?? null;
}
