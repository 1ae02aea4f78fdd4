/** Words that say nothing about which relation is meant. */
const empty = new Set(
  'a an the of in on at by to with for from is are was were be been has have had its which that what who does do'.split(
    ' ',
  ),
);

/**
 * The predicates a relation's name means, of those given with their names: by the very name, else by the same words
 * with endings folded ("borders", "bordering"), else where one's words are among the other's ("spoken languages" and
 * "language"). Empty if none.
 */
export function matchRelation(relation: string, predicates: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const wanted = relation.trim().toLowerCase();
  const words = folded(relation);
  const scored = [...predicates].map(([predicate, names]) => ({
    predicate,
    score: Math.max(0, ...names.map((name) => likeness(wanted, words, name))),
  }));
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return best === 0 ? [] : scored.filter(({ score }) => score === best).map(({ predicate }) => predicate);
}

function likeness(wanted: string, words: ReadonlySet<string>, name: string): number {
  if (name.trim().toLowerCase() === wanted) return 3;
  const others = folded(name);
  if (words.size === 0 || others.size === 0) return 0;
  if (within(words, others) && within(others, words)) return 2;
  return within(words, others) || within(others, words) ? 1 : 0;
}

function within(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  return [...some].every((word) => all.has(word));
}

/** A name's words without plural and verb endings. */
function folded(name: string): Set<string> {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const telling = words.filter((word) => !empty.has(word));
  return new Set((telling.length > 0 ? telling : words).map(foldEnding));
}

function foldEnding(word: string): string {
  const singular = word.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
  const verb = singular.replace(/^(.*[aeiouy].*[^aeiou])(?:ing|ed)$/, '$1').replace(/([b-df-hj-np-tv-z])\1$/, '$1');
  return verb.length > 3 ? verb.replace(/e$/, '') : verb;
}
