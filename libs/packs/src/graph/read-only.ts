import { ToolUserError } from '@sluice/core';
import { tokensOf } from './cypher-tokens.js';
import type { Token } from './cypher-tokens.js';

/** What writes, or reaches beyond the graph. */
const refused = new Set(
  (
    'CREATE MERGE SET DELETE DETACH REMOVE DROP FOREACH LOAD INSERT ALTER GRANT DENY REVOKE RENAME START STOP TERMINATE USE COPY ENABLE ' +
    'DISABLE DEALLOCATE REALLOCATE EXPLAIN PROFILE FINISH SHOW'
  ).split(' '),
);

/** What changes nodes and relationships, and nothing else. */
const changing = new Set('CREATE MERGE SET DELETE DETACH REMOVE FOREACH'.split(' '));

/**
 * Throws ToolUserError unless the query only reads, or changes nodes and relationships: what changes the schema,
 * users or databases, or reads files, is refused. True if it changes anything.
 */
export function requireDataOnly(query: string): boolean {
  const tokens = tokensOf(query);
  let changes = false;
  requireAllowed(tokens, (word, at) => {
    if (!changing.has(word)) return false;
    const [next, then] = [tokens[at + 1], tokens[at + 2]];
    // CREATE (n), CREATE p = (n): anything else behind it is about something other than data.
    if (word === 'CREATE' && next?.text !== '(' && then?.text !== '=')
      throw new ToolUserError(
        'The query creates something other than nodes and relationships, which is not allowed here.',
      );
    return (changes = true);
  });
  return changes;
}

/**
 * Throws ToolUserError unless the query only reads. It looks at tokens, so that the words in a text, a comment or a
 * quoted name are none of it, and refuses what it is not sure of: a variable that is named as a clause needs
 * backticks.
 */
export function requireReading(query: string): readonly Token[] {
  const tokens = tokensOf(query);
  requireAllowed(tokens, () => false);
  return tokens;
}

function requireAllowed(tokens: readonly Token[], allows: (word: string, at: number) => boolean): void {
  tokens.forEach((token, at) => {
    const [before, after] = [tokens[at - 1], tokens[at + 1]];
    if (token.kind === 'mark' && token.text === ';' && after?.kind !== 'end')
      throw new ToolUserError('The query holds several statements. Ask one at a time.');
    if (token.kind !== 'word') return;
    const isLabel = before?.text === ':' || before?.text === '.' || (before?.text === '|' && after?.text !== '(');
    const isKey = (before?.text === '{' || before?.text === ',') && after?.text === ':';
    if (isLabel || isKey) return;
    const word = token.text.toUpperCase();
    if (refused.has(word) && !allows(word, at))
      throw new ToolUserError(`The query holds ${word}, and only reading is allowed here.`);
    if (word === 'CALL')
      throw new ToolUserError(
        'The query calls a procedure, which is not possible here. get_database_schema lists what there is.',
      );
  });
  if (tokens.length === 1) throw new ToolUserError('The query is empty.');
}
