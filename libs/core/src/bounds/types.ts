import type { JsonValue } from '../json.js';

/** Values that an argument is compared with: written out, those of a claim of the caller, or those of a list. */
export type ValueSource =
  { readonly values: readonly JsonValue[] } | { readonly claim: string } | { readonly list: string };

/** What one argument may be. All that is given must hold; an argument that is not given is not bounded. */
export interface ArgumentBound {
  readonly constant?: { readonly value: JsonValue };
  readonly oneOf?: ValueSource;
  readonly notOneOf?: ValueSource;
  /** Of a number: at least, at most, more than, less than. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly above?: number;
  readonly below?: number;
  /** A regular expression of RE2 that is found in the text. */
  readonly pattern?: string;
  /** Characters of a text, or items of a list. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Hosts of an address; `*.example.org` for those below it. */
  readonly hosts?: readonly string[];
  /** The argument may not be given. */
  readonly absent?: true;
  /** The argument must be given; false, of bounds within which something opens: it need not be. */
  readonly required?: boolean;
}

/** By path: names with `/` between, `*` for each element of a list or member of an object. */
export type ArgumentBounds = Readonly<Record<string, ArgumentBound>>;

/** A list that bounds name: its values, or where the executor reads them. */
export type ListSettings = { readonly values: readonly JsonValue[] } | { readonly lookup: ListLookup };

/** A list that is kept elsewhere, and read by a GET. */
export interface ListLookup {
  /** With `{tenant}`, `{user}` and `{claims.<claim>}` in the place of those of who calls. */
  readonly url: string;
  /** The variable whose value goes with it as a bearer token; null for none. */
  readonly keyEnv: string | null;
  /** Where the values stand in the answer: a path as that of a bound. */
  readonly items: string;
  /** How long values are used before they are read again, in milliseconds. */
  readonly refreshMs: number;
  /** How long beyond that they are used where they cannot be read. */
  readonly staleMs: number;
  readonly timeoutMs: number;
}

export type Lists = Readonly<Record<string, ListSettings>>;

/** What bounds are judged by, beside the arguments; part of RuleFacts. */
export interface BoundFacts {
  /** The claims that bounds name, of the caller's credential. */
  readonly claims: Readonly<Record<string, readonly string[]>>;
  /** What was found out for this decision, by name: `lookup/<list>/<value>`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** An argument that is out of its bounds: which, and what it must be, in words that name no value of it. */
export interface OutOfBounds {
  readonly path: string;
  readonly why: string;
}
