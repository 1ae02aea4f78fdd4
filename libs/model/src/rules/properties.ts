/** What a property of a tool's input is for, read off its name. */
type PropertyKind = 'words' | 'name' | 'relation' | 'object' | 'rows' | 'limit' | 'address' | 'language' | 'unknown';

/** The last word of a property's name decides: `entity_name` is a name, `max_results` a limit. */
const kinds: Readonly<Record<Exclude<PropertyKind, 'unknown'>, RegExp>> = {
  words: /^(?:questions?|query|q|prompt|text|instructions?|input|message|content|request|search|task)$/,
  name: /^(?:entity|entities|name|names|subject|subjects|about|topic|topics|of|item|title|keyword|keywords|country|city|place|location|person)$/,
  relation: /^(?:relation|relations|relationship|property|predicate|attribute|field|edge)$/,
  object: /^(?:object|value|target)$/,
  rows: /^(?:rows|items|data|records|table|entries|values)$/,
  limit: /^(?:limit|count|top|n|max|results|size)$/,
  address: /^(?:url|uri|link|address)$/,
  language: /^(?:sparql|sql|cypher|regex|regexp|pattern|expression|jsonpath|xpath|graphql)$/,
};

/**
 * A formal language (SPARQL, SQL, a pattern) is recognised first, also where only the description names it: a sentence
 * is none.
 */
export function kindOf(property: string, description: string): PropertyKind {
  const words = property
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const last = words.at(-1) ?? '';
  if (
    words.some((word) => kinds.language.test(word)) ||
    /\b(?:SPARQL|SQL|Cypher|GraphQL|regular expression|JSONPath|XPath) (?:\d[\d.]* )?(?:query|expression|pattern|statement)/i.test(
      description,
    )
  ) {
    return 'language';
  }
  const found = (Object.keys(kinds) as (keyof typeof kinds)[]).find((kind) => kinds[kind].test(last));
  return found ?? 'unknown';
}

/**
 * Whether a property is for adding or for taking away, as in `add` and `remove` of an update; undefined where it says
 * neither.
 */
export function directionOf(property: string): 'add' | 'remove' | undefined {
  if (/^(?:add|insert|create|set|upsert)/i.test(property)) return 'add';
  return /^(?:remove|delete|drop)/i.test(property) ? 'remove' : undefined;
}
