import { namesIn, quotedIn } from './names.js';
import { withoutPoliteness } from './intents.js';

/** A fact in a sentence, as a graph would keep it. */
interface Statement {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
}

const order =
  /^(?:add|record|note|remember|store|save|set|update|change|modify|insert|create|remove|delete|replace)\s+(?:the fact\s+)?(?:that\s+)?/i;

/** The patterns that state a fact, tried in this order; each names its parts. */
const patterns: readonly RegExp[] = [
  // connect Bern to Zurich
  /^(?:connect|link)\s+(?<subject>.+?)\s+(?:to|with)\s+(?<object>.+)$/i,
  // the capital of France is Paris; the capital of France to Paris
  /^(?:the\s+)?(?<predicate>\S+(?:\s\S+)?)\s+of\s+(?<subject>.+?)\s+(?:is|are|to|as)\s+(?<object>.+)$/i,
  // Liechtenstein as a neighbour of Switzerland
  /^(?<subject>.+?)\s+as\s+(?:an?\s+|the\s+)?(?<predicate>.+?\sof)\s+(?<object>.+)$/i,
];

/** The fact that a clause asks to keep or to drop; undefined where none can be read from it. */
export function statementIn(clause: string): Statement | undefined {
  const fact = withoutPoliteness(clause)
    .replace(order, '')
    .replace(/[.!?]+$/, '')
    .trim();
  for (const pattern of patterns) {
    const parts = pattern.exec(fact)?.groups;
    if (parts?.['subject'] && parts['object']) {
      return {
        subject: bare(parts['subject']),
        predicate: parts['predicate'] ?? 'connected to',
        object: bare(parts['object']),
      };
    }
  }
  return betweenNames(fact) ?? afterVerb(fact);
}

/** Sluice is written in TypeScript: between two names stands what holds between them. */
function betweenNames(fact: string): Statement | undefined {
  const unquoted = fact.replace(/"[^"]*"|“[^”]*”|«[^»]*»/g, ' ');
  // The word before keeps the fact's own first word from being taken for the beginning of a sentence.
  const names = [...quotedIn(fact), ...namesIn(`that ${unquoted}`)].sort((a, b) => fact.indexOf(a) - fact.indexOf(b));
  const subject = names[0];
  const object = names.at(-1);
  if (subject === undefined || object === undefined || subject === object || !fact.includes(subject)) return undefined;
  const between = fact.slice(fact.indexOf(subject) + subject.length, fact.lastIndexOf(object));
  const predicate = between
    .replace(/["“”«»]/g, '')
    .trim()
    .replace(/^(?:is|are|was|were|has|have)\s+(?=\S)/i, '')
    .replace(/\s+(?:the|an?)$/i, '');
  return predicate === '' ? undefined : { subject, predicate, object };
}

/** Bern has many bears: the first verb of being or having divides. */
function afterVerb(fact: string): Statement | undefined {
  const parts = /^(?<subject>.+?)\s+(?<predicate>is|are|was|were|has|have)\s+(?<object>.+)$/i.exec(fact)?.groups;
  if (!parts?.['subject'] || !parts['predicate'] || !parts['object']) return undefined;
  return { subject: bare(parts['subject']), predicate: parts['predicate'], object: bare(parts['object']) };
}

function bare(text: string): string {
  return text.trim().replace(/^["“«]|["”»]$/g, '');
}
