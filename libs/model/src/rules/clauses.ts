import { intentOf, intents, otherIntent, withoutPoliteness, type Intent } from './intents.js';
import { lastWordOf, namesIn } from './names.js';

/** One thing that a question asks for. */
export interface Clause {
  /** Tells it from the others; quoted in the thought of each call made for it, and so found again in the history. */
  readonly key: string;
  readonly text: string;
  readonly intent: Intent;
  /** What it is about: its own names, or those of the clause before it ("What is its capital?"). */
  readonly names: readonly string[];
  /** The one name of several in the same words that this clause is about, else null. */
  readonly target: string | null;
  /** Not asked for, but needed by the next one: what is to be compared must be looked up first. */
  readonly implied: boolean;
}

const orders =
  /\band(?=\s+(?:compare|analy[sz]e|rank|reset|restart|add|record|remove|delete|write|summari[sz]e|explain|translate|list|find|show|tell|which|what|who|where|how)\b)/;
const breaks = new RegExp(
  `[.;?!]+(?=\\s|$)|\\n+|,?\\s*\\b(?:and\\s+)?then\\b|,\\s*(?:and|but)\\b|${orders.source}`,
  'gi',
);

/** A question is read up to here, in characters; sensible ones are shorter. */
const maxRead = 4_000;

/** The clauses of a question in order, each with its intent. Never empty for a question that holds any word. */
export function clausesOf(question: string): Clause[] {
  const clauses: Clause[] = [];
  let names: readonly string[] = [];
  for (const text of piecesOf(question.slice(0, maxRead))) {
    const intent = intentOf(text) ?? otherIntent;
    const own = namesIn(text);
    const last = lastWordOf(text);
    if (own.length > 0) names = own;
    else if (names.length === 0 && intent.name === 'lookup' && last !== undefined) names = [last];

    const needsLookup =
      intent.name === 'analyse' && own.length > 0 && !clauses.some((clause) => clause.intent.name === 'lookup');
    if (needsLookup) clauses.push(...perName(text, lookup(), own, true));
    if (intent.name === 'lookup') clauses.push(...perName(text, intent, names, false));
    else clauses.push({ key: `"${text}"`, text, intent, names, target: null, implied: false });
  }
  return clauses;
}

/** "The capitals of France and Germany" are two things to look up. */
function perName(text: string, intent: Intent, names: readonly string[], implied: boolean): Clause[] {
  const suffix = implied ? ', looking up ' : ' for ';
  if (names.length < 2 && !implied) return [{ key: `"${text}"`, text, intent, names, target: null, implied }];
  return names.map((name) => ({
    key: `"${text}"${suffix}${name}`,
    text,
    intent,
    names: [name],
    target: name,
    implied,
  }));
}

function lookup(): Intent {
  return intents.find((intent) => intent.name === 'lookup') ?? otherIntent;
}

/**
 * Cuts at sentence ends and at the words that join clauses; a piece in which nothing is asked stays with the one
 * before.
 */
function piecesOf(question: string): string[] {
  const masked = question.replace(/"[^"]*"|“[^”]*”|«[^»]*»/g, (quoted) => quoted.replace(/[^"“”«»]/g, '_'));
  const pieces: { start: number; end: number }[] = [];
  let start = 0;
  const cut = (end: number, next: number) => {
    const text = question.slice(start, end);
    const previous = pieces.at(-1);
    if (text.trim() !== '') {
      if (previous !== undefined && intentOf(text) === undefined) previous.end = end;
      else pieces.push({ start, end });
    }
    start = next;
  };
  for (const match of masked.matchAll(breaks)) cut(match.index, match.index + match[0].length);
  cut(question.length, question.length);
  return pieces
    .map((piece) => withoutPoliteness(question.slice(piece.start, piece.end)).trim())
    .filter((text) => text !== '');
}
