import { withoutPoliteness } from './intents.js';
import { stem, stemsOf } from './words.js';

const adding = 'add create insert write append save store record note upload send post publish submit put make'.split(
  ' ',
);
const removing = 'remove delete clear drop erase purge unset cancel revoke close archive reset restart'.split(' ');
const other =
  'update modify edit change replace set rename move copy merge mark start stop complete finish approve assign grant pay buy book order transfer run execute call invoke import sync trigger deploy install enable disable'.split(
    ' ',
  );
const changing = new Set([...adding, ...removing, ...other]);
const reading = new Set(
  'get list read find search query show look lookup fetch describe count check compute calculate retrieve view is has'.split(
    ' ',
  ),
);

/** What a tool says of itself: its name with spaces between its words, and its description. */
interface Described {
  readonly name: string;
  readonly description: string;
}

/**
 * Whether a tool changes something, as far as words tell: its name begins or ends with a verb of changing, or joins
 * one with "and", or its description begins with one. A name that begins with a verb of reading, such as
 * `get_last_update`, says that it reads.
 */
export function changesSomething(tool: Described): boolean {
  return verbsOfChange(tool).length > 0;
}

/**
 * Whether the clause orders this very change: by the tool's own verb, and about a thing in the tool's name, if that
 * names one.
 */
export function ordersThat(clause: string, tool: Described): boolean {
  const [verb = ''] = wordsIn(withoutPoliteness(clause));
  if (!verbsOfChange(tool).some((one) => stem(one) === stem(verb))) return false;
  const said = stemsOf(clause);
  const things = wordsIn(tool.name).filter((word) => !changing.has(word) && word !== 'and');
  return things.length === 0 || things.some((thing) => said.has(stem(thing)));
}

/** Whether the clause orders to remove and the tool only adds, or the other way round. */
export function isOpposite(clause: string, tool: Described): boolean {
  const [verb = ''] = wordsIn(withoutPoliteness(clause));
  const verbs = wordsIn(tool.name).filter((word) => changing.has(word));
  const only = (those: readonly string[]) => verbs.length > 0 && verbs.every((one) => those.includes(one));
  return (removing.includes(verb) && only(adding)) || (adding.includes(verb) && only(removing));
}

function verbsOfChange({ name, description }: Described): string[] {
  const words = wordsIn(name);
  const [first = ''] = words;
  const [does = ''] = wordsIn(description);
  const joined = words.filter((_, at) => words[at - 1] === 'and');
  const ends = reading.has(first) ? joined : [first, words.at(-1) ?? '', ...joined];
  const describes = reading.has(first) ? [] : [does];
  return [...ends, ...describes].filter((word) => changing.has(word) || changing.has(word.replace(/e?s$/, '')));
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}
