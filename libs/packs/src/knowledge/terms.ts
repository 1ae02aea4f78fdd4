import type { Cell } from '@sluice/tools';

/** An RDF term, in the shape of the SPARQL 1.1 results JSON format. */
export type Term =
  | { readonly type: 'uri'; readonly value: string }
  | { readonly type: 'bnode'; readonly value: string }
  | { readonly type: 'literal'; readonly value: string; readonly datatype?: string; readonly 'xml:lang'?: string };

export interface Triple {
  readonly subject: Term;
  readonly predicate: Term;
  readonly object: Term;
}

const xsd = 'http://www.w3.org/2001/XMLSchema#';
const numeric = new Set(
  'integer decimal double float int long short byte nonNegativeInteger positiveInteger negativeInteger nonPositiveInteger unsignedInt unsignedLong'
    .split(' ')
    .map((name) => xsd + name),
);

export function iri(value: string): Term {
  return { type: 'uri', value };
}

/**
 * A literal of the datatype that a JSON value has: text, integer, decimal (or double where decimal cannot write it),
 * boolean.
 */
export function literal(value: Cell): Term {
  if (typeof value === 'boolean') return { type: 'literal', value: String(value), datatype: `${xsd}boolean` };
  if (typeof value === 'string') return { type: 'literal', value };
  const text = String(value);
  const datatype =
    Number.isInteger(value) && !text.includes('e') ? 'integer' : text.includes('e') ? 'double' : 'decimal';
  return { type: 'literal', value: text, datatype: xsd + datatype };
}

/** A term as a tool's row shows it: numbers and booleans as such, everything else as text. */
export function cellOf(term: Term): Cell {
  if (term.type === 'bnode') return `_:${term.value}`;
  if (term.type === 'uri') return term.value;
  if (term.datatype === `${xsd}boolean`) return term.value === 'true' || term.value === '1';
  if (term.datatype !== undefined && numeric.has(term.datatype)) {
    const number = Number(term.value);
    // A number too long for a JSON reader stays text, so that no digit is lost.
    if (Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))) return number;
  }
  return term.value;
}

/** A term as SPARQL and N-Triples write it. Blank nodes cannot be written: they have no name outside their store. */
export function termText(term: Term): string {
  switch (term.type) {
    case 'uri':
      return iriText(term.value);
    case 'bnode':
      throw new Error('A blank node cannot be written into a query.');
    case 'literal': {
      const text = literalText(term.value);
      if (term['xml:lang'] !== undefined) return `${text}@${term['xml:lang']}`;
      return term.datatype === undefined ? text : `${text}^^${iriText(term.datatype)}`;
    }
  }
}

/** `<…>`; throws for what no IRI may hold, so that nothing can end it early. */
export function iriText(value: string): string {
  if (/[\s<>"{}|\\^`]|\p{Cc}/u.test(value)) throw new Error('An IRI holds a character that IRIs cannot have.');
  return `<${value}>`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export function literalText(value: string): string {
  return `"${value.replace(/[\\"\n\r\t]/g, (character) => escapes[character] ?? character)}"`;
}

/** Whether a text is meant as an IRI and not as a name. */
export function isIri(text: string): boolean {
  return /^(https?:\/\/|urn:|tag:|did:|doi:)[^\s<>"{}|\\^`]+$/i.test(text);
}

/** What an IRI calls its thing: the part after the last `#`, `/` or `:`, decoded, with separators as spaces. */
export function localName(value: string): string {
  const last =
    value
      .replace(/[#/:]+$/, '')
      .split(/[#/:]/)
      .at(-1) ?? value;
  const words = last.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[-_+]+/g, ' ');
  return /%[0-9A-F]{2}/i.test(words) ? decoded(words) : words;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
