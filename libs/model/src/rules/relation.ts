import type { JsonObject } from '@sluice/core';
import type { Clause } from './clauses.js';
import { contentWords, stem, stemsOf, wordsOf } from './words.js';

/**
 * What a clause wants to know of its subject: "border" in "Which countries border Switzerland", "capital" in "What is
 * the capital of France". A word that the schema lists or gives as an example comes before what the grammar suggests.
 */
export function relationIn(clause: Clause, schema: JsonObject): string | undefined {
  const stems = stemsOf(withoutNames(clause));
  const known = knownValues(schema).find((value) => [...stemsOf(value)].some((each) => stems.has(each)));
  return known ?? (Array.isArray(schema['enum']) ? undefined : mainWord(clause));
}

/** The values of an enum, the examples, and those that the description gives after "such as" or "for example". */
function knownValues(schema: JsonObject): string[] {
  const listed = [schema['enum'], schema['examples']].flatMap((values) => (Array.isArray(values) ? values : []));
  const description = typeof schema['description'] === 'string' ? schema['description'] : '';
  const told = /\b(?:such as|for example|one of|e\.g\.)[:,]?\s+([^.;)]+)/i.exec(description)?.[1] ?? '';
  const inDescription = told.split(/,\s*|\s+(?:or|and)\s+/).map((value) => value.replace(/["'“”`]/g, '').trim());
  return [...listed.filter((value) => typeof value === 'string'), ...inDescription].filter((value) =>
    /^[\p{L}][\p{L}\p{N}_ -]*$/u.test(value),
  );
}

function mainWord(clause: Clause): string | undefined {
  const name = clause.names[0];
  const text = clause.text;
  // the official language of Belgium
  const beforeOf = /\b(?:the|its|their)\s+(?:\p{L}+\s+)?(\p{L}+)\s+of\b/iu.exec(text)?.[1];
  if (beforeOf !== undefined) return beforeOf.toLowerCase();
  // Belgium's languages
  const afterName = /\p{L}[’']s\s+(\p{L}+)/u.exec(text.replace(/^(?:what|who|where)[’']s/i, ''))?.[1];
  if (afterName !== undefined) return afterName.toLowerCase();
  // countries border Switzerland: the verb stands right before the name
  const words = wordsOf(name === undefined ? text : text.slice(0, Math.max(0, text.indexOf(name))));
  const content = contentWords(withoutNames(clause)).filter(
    (word) => clause.intent.name !== 'lookup' || !/^(?:find|look|search|query|fetch|list)$/i.test(word),
  );
  const beforeName = words.at(-1);
  const word = content.find((each) => each === beforeName) ?? content[0];
  return clause.implied || word === undefined ? undefined : stemOfVerb(word, word === beforeName);
}

/** A verb right before its object is given as the graph would name it; a noun stays as it was asked. */
function stemOfVerb(word: string, isVerb: boolean): string {
  return isVerb && /s$/.test(word) ? stem(word) : word.toLowerCase();
}

/** Without what the clause is about, and without other names in it: what is capital after the first word. */
function withoutNames(clause: Clause): string {
  const rest = clause.names.reduce((text, name) => text.replace(name, ' '), clause.text);
  return rest.replace(/(?<=\S\s+)\p{Lu}[\p{L}\p{N}’'-]*/gu, ' ');
}
