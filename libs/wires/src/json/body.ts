import { RepeatedList, RepeatedLists, shortestRepeated } from './repeated-lists.js';
import { afterSpace, itemRanges } from './scan.js';
import { JsonSpan } from './span.js';

/** A request’s body: its text, its bytes in UTF-8, or what was read of it before. */
export type Body = string | Buffer | JsonSpan;

const lists = new RepeatedLists();

/** The last text that was read, until the event loop turns: a request is looked at several times. */
let last: { readonly text: string; readonly span: JsonSpan } | null = null;

/**
 * Reads a body. Its list of tools, which may be megabytes and the same in many requests, stands apart, and is read
 * once for all of them. Throws SyntaxError where the body is no JSON.
 */
export function readBody(body: Body): JsonSpan {
  if (body instanceof JsonSpan) return body;
  if (typeof body !== 'string') return apart(new Bytes(body)) ?? JsonSpan.of(body.toString('utf8'));
  if (last?.text === body) return last.span;
  const span = apart(new Characters(body)) ?? JsonSpan.of(body);
  if (last === null)
    setImmediate(() => {
      last = null;
    });
  last = { text: body, span };
  return span;
}

/** What a list is looked for in. Places are those of its own units. */
interface Searched {
  readonly length: number;
  indexOf(text: string, from: number): number;
  /** One code unit, of ASCII where it is one that JSON has between its values. */
  charCodeAt(at: number): number;
  /** Whether this very list begins here. */
  holds(list: RepeatedList, at: number): boolean;
  /** Units of the list. */
  lengthOf(list: RepeatedList): number;
  /** The list that begins here; null where none does that can be held. */
  listAt(at: number): RepeatedList | null;
  text(from: number, to: number): string;
}

class Characters implements Searched {
  constructor(private readonly whole: string) {}

  get length(): number {
    return this.whole.length;
  }

  indexOf(text: string, from: number): number {
    return this.whole.indexOf(text, from);
  }

  charCodeAt(at: number): number {
    return this.whole.charCodeAt(at);
  }

  holds({ source }: RepeatedList, at: number): boolean {
    return this.whole.startsWith(source, at);
  }

  lengthOf({ source }: RepeatedList): number {
    return source.length;
  }

  listAt(at: number): RepeatedList | null {
    const ranges = itemRanges(this.whole, at);
    if (ranges === null) return null;
    const source = this.whole.slice(at, ranges.end);
    // A part of a text would keep all of it.
    const own = Buffer.from(source).toString();
    return own === source ? RepeatedList.of(own) : null;
  }

  text(from: number, to: number): string {
    return this.whole.slice(from, to);
  }
}

class Bytes implements Searched {
  /** A character for each byte: what JSON has between its values is ASCII. */
  private latin: string | null = null;

  constructor(private readonly whole: Buffer) {}

  get length(): number {
    return this.whole.length;
  }

  indexOf(text: string, from: number): number {
    return this.whole.indexOf(text, from, 'latin1');
  }

  charCodeAt(at: number): number {
    return this.whole[at] ?? NaN;
  }

  holds({ bytes }: RepeatedList, at: number): boolean {
    const end = at + bytes.length;
    return end <= this.whole.length && this.whole.compare(bytes, 0, bytes.length, at, end) === 0;
  }

  lengthOf({ bytes }: RepeatedList): number {
    return bytes.length;
  }

  listAt(at: number): RepeatedList | null {
    const ranges = itemRanges((this.latin ??= this.whole.toString('latin1')), at);
    if (ranges === null) return null;
    const source = this.whole.toString('utf8', at, ranges.end);
    // What is no UTF-8 is read as something else, which would not be found again.
    if (source.includes('\uFFFD')) return null;
    // Places in bytes are those in the text where each character is one byte.
    const places = source.length === ranges.end - at ? Uint32Array.from(ranges.items, (place) => place - at) : null;
    return RepeatedList.of(source, Buffer.from(this.whole.subarray(at, ranges.end)), places);
  }

  text(from: number, to: number): string {
    return this.whole.toString('utf8', from, to);
  }
}

/** The member whose list stands apart. A body that names it more often is read as a whole. */
const name = 'tools';
const named = `"${name}"`;
const mostLooks = 4;
const colon = 0x3a;

/**
 * The body with its list of tools apart; null where there is none that can be. The body is JSON where it is with an
 * empty list in that place, if the list is a value there: it might stand inside a string, or deeper down.
 */
function apart(body: Searched): JsonSpan | null {
  if (body.length < shortestRepeated) return null;
  let at = body.indexOf(named, 0);
  for (let look = 0; look < mostLooks && at !== -1; look++) {
    const behind = afterSpace(body, at + named.length);
    if (body.charCodeAt(behind) === colon) {
      const start = afterSpace(body, behind + 1);
      const before = lists.find((list) => body.holds(list, start));
      const list = before ?? body.listAt(start);
      if (list !== null) {
        const end = start + body.lengthOf(list);
        const span = JsonSpan.around(body.text(0, start), body.text(end, body.length), { name, list });
        if (span !== null && before === undefined) lists.hold(list);
        if (span !== null) return span;
      }
    }
    at = body.indexOf(named, behind);
  }
  return null;
}
