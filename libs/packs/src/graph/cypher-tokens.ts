import { ToolUserError } from '@sluice/core';

export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'parameter' | 'mark' | 'end';
  /** Without quotes and escapes; a word as it is written. */
  readonly text: string;
  readonly at: number;
}

const longestQuery = 10_000;
const marks = ['<=', '>=', '<>', '=~', '..', '->', '<-', '||'];

/** A Cypher query as tokens: what stands in strings, comments and backticks is no keyword. Throws ToolUserError. */
export function tokensOf(query: string): readonly Token[] {
  if (query.length > longestQuery) throw new ToolUserError(`The query is longer than ${longestQuery} characters.`);
  // In Cypher \uXXXX is read before anything else, so that a keyword could hide in it.
  if (/\\u/i.test(query)) throw new ToolUserError('The query holds a \\u escape. Write the character itself.');
  const tokens: Token[] = [];
  let at = 0;
  while (at < query.length) {
    const rest = query.slice(at);
    const space = /^(?:\s+|\/\/[^\n\r]*|\/\*[\s\S]*?\*\/)/.exec(rest)?.[0];
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const [length, token] = tokenAt(rest, at);
    tokens.push(token);
    at += length;
  }
  return [...tokens, { kind: 'end', text: '', at }];
}

function tokenAt(rest: string, at: number): readonly [number, Token] {
  const whole = (pattern: RegExp): string | undefined => pattern.exec(rest)?.[0];
  const [first = ''] = rest;
  if (first === "'" || first === '"') {
    const found = whole(first === "'" ? /^'(?:[^'\\]|\\[\s\S])*'/ : /^"(?:[^"\\]|\\[\s\S])*"/);
    if (found === undefined) throw unfinished('text', at);
    return [found.length, { kind: 'text', text: unescaped(found.slice(1, -1)), at }];
  }
  if (first === '`') {
    const found = whole(/^`(?:[^`]|``)*`/);
    if (found === undefined) throw unfinished('name', at);
    return [found.length, { kind: 'name', text: found.slice(1, -1).replaceAll('``', '`'), at }];
  }
  if (rest.startsWith('/*')) throw unfinished('comment', at);
  const parameter = /^\$([\p{L}_][\p{L}\p{N}_]*)/u.exec(rest);
  if (parameter !== null) return [parameter[0].length, { kind: 'parameter', text: parameter[1] as string, at }];
  const number = whole(/^(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)/);
  if (number !== undefined) return [number.length, { kind: 'number', text: number, at }];
  const word = whole(/^[\p{L}_][\p{L}\p{N}_]*/u);
  if (word !== undefined) return [word.length, { kind: 'word', text: word, at }];
  const mark = marks.find((each) => rest.startsWith(each)) ?? first;
  return [mark.length, { kind: 'mark', text: mark, at }];
}

function unescaped(text: string): string {
  const known: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
  return text.replace(/\\([\s\S])/g, (_, character: string) => known[character] ?? character);
}

function unfinished(what: string, at: number): ToolUserError {
  return new ToolUserError(`The ${what} that begins at character ${at + 1} of the query does not end.`);
}
