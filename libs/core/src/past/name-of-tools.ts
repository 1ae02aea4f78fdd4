const named = new WeakMap<readonly string[], string>();

/** Names a set of tools, whatever their order: the id of a single one, else a checksum of all of 64 bits, in hex. */
export function nameOfTools(tools: readonly string[]): string {
  const known = named.get(tools);
  if (known !== undefined) return known;
  const [only = '', ...others] = [...tools].sort();
  const name = others.length === 0 ? only : checksum([only, ...others].join('\n'));
  named.set(tools, name);
  return name;
}

/** FNV-1a over two halves of 32 bits with different offsets. It tells sets apart that people wrote, not forged ones. */
function checksum(text: string): string {
  let [one, other] = [0x811c9dc5, 0xcbf29ce4];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ (unit + at), 0x01000193);
  }
  return [one, other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
