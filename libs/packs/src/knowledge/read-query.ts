import { ToolUserError } from '@sluice/core';

type QueryForm = 'select' | 'ask' | 'construct' | 'describe';

/** A query that has been looked at: it reads, and it stays in its store. */
export interface ReadQuery {
  readonly form: QueryForm;
  readonly text: string;
  /**
   * The same with its result bounded to one more than `maxResults`, for a store that evaluates all before it answers.
   */
  readonly bounded: string;
  readonly maxResults: number;
}

const maxQueryCharacters = 10_000;
/** More rows or triples than this are refused instead of counted. */
const maxQueryResults = 10_000;

const updates = /^(insert|delete|load|clear|create|drop|copy|move|add|with)\b/i;
const reads = /^(select|ask|construct|describe)\b/i;
const prologue = /^\s*(?:base\s+<[^>]*>|prefix\s+[^\s:]*:\s*<[^>]*>)\s*/i;

const escape = /\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}/;

/** One of our own SELECT queries, about as many things as there are: its length and its words are ours. */
export function ownSelect(text: string, maxResults: number): ReadQuery {
  return { form: 'select', text, bounded: bounded(text, withoutTexts(text), maxResults + 1), maxResults };
}

/**
 * Looks at a SPARQL query before it is run. Throws ToolUserError for what does not read (updates), for what reaches
 * another server (SERVICE), and for a text that is too long.
 */
export function readQuery(text: string): ReadQuery {
  if (text.length > maxQueryCharacters) {
    throw new ToolUserError(
      `The query has ${text.length} characters and the limit is ${maxQueryCharacters}. Ask for less at once.`,
    );
  }
  // SPARQL decodes such escapes before or while it reads words, so a keyword, or the end of what hides one, could be
  // in them.
  if (escape.test(text))
    throw new ToolUserError('The query has \\u escapes. Write the characters themselves, also in strings and IRIs.');
  const bare = withoutTexts(text);
  let body = bare.trimStart();
  for (let match = prologue.exec(body); match !== null; match = prologue.exec(body)) body = body.slice(match[0].length);
  if (updates.test(body)) {
    throw new ToolUserError(
      'This tool only reads. Write a SELECT, ASK, CONSTRUCT or DESCRIBE query; statements are changed with the graph update tool.',
    );
  }
  const form = reads.exec(body)?.[1]?.toLowerCase() as QueryForm | undefined;
  if (form === undefined)
    throw new ToolUserError('The query must begin with SELECT, ASK, CONSTRUCT or DESCRIBE, after its prefixes.');
  if (/\bservice\b/i.test(body))
    throw new ToolUserError('SERVICE would reach another server, which is not allowed. Query this graph alone.');
  return {
    form,
    text,
    bounded: form === 'ask' ? text : bounded(text, bare, maxQueryResults + 1),
    maxResults: maxQueryResults,
  };
}

/**
 * The query with all strings and comments blanked, so that words in them mean nothing; IRIs keep only their brackets.
 * Same length.
 */
function withoutTexts(text: string): string {
  const texts =
    /"""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|<[^<>"{}|^`\\\s]*>|#[^\n]*/g;
  return text.replace(texts, (match) =>
    match.startsWith('<') ? `<${' '.repeat(match.length - 2)}>` : ' '.repeat(match.length),
  );
}

/** The query with a LIMIT of at most this many: its own, if that is lower. */
function bounded(text: string, bare: string, limit: number): string {
  const tail = bare.lastIndexOf('}') + 1;
  const own = /\blimit\s+(\d+)/i.exec(bare.slice(tail));
  if (own === null) return `${text}\nLIMIT ${limit}`;
  if (Number(own[1]) <= limit) return text;
  const start = tail + own.index;
  return `${text.slice(0, start)}LIMIT ${limit}${text.slice(start + own[0].length)}`;
}
