/**
 * Whether a path matches a glob: `*` any characters within a name, `?` one, `**` any number of names. A pattern
 * without a slash is compared with the last name alone. It compares in steps that grow with the lengths alone,
 * however many stars a pattern has.
 */
export function globMatcher(pattern) {
  const wanted = pattern.split('/');
  if (wanted.length === 1) return (path) => matches([...path.split('/').at(-1)], [...pattern], '*', characterMatches);
  const segments = wanted.map((name) => (name === '**' ? name : [...name]));
  return (path) =>
    matches(
      path.split('/').map((name) => [...name]),
      segments,
      '**',
      (name, segment) => matches(name, segment, '*', characterMatches),
    );
}

const characterMatches = (character, wanted) => wanted === '?' || wanted === character;

/** Items against a pattern in which `many` stands for any number of them. */
function matches(items, pattern, many, itemMatches) {
  let item = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (item < items.length) {
    if (at < pattern.length && pattern[at] === many) {
      star = at++;
      resume = item;
    } else if (at < pattern.length && itemMatches(items[item], pattern[at])) {
      item++;
      at++;
    } else if (star >= 0) {
      // The last star takes one item more.
      at = star + 1;
      item = ++resume;
    } else return false;
  }
  while (pattern[at] === many) at++;
  return at === pattern.length;
}
