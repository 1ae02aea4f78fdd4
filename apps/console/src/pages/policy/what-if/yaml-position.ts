/** Where in a YAML text one writes: the names around it, and whether it is a key or a value. */
export interface YamlPosition {
  /** Keys from the outside in; `[]` for an item of a list. */
  readonly path: readonly string[];
  readonly kind: 'key' | 'value';
  /** What was written of it so far begins here. */
  readonly from: number;
}

const item = '[]';
const indented = /^(\s*(?:- +)*)/;
const keyBegun = /^(\s*(?:- +)*)["']?([\w.*/-]*)$/;
const valueBegun = /^(\s*(?:- +)*)["']?([\w.*/-]+)["']?:\s+["']?([\w.*/-]*)$/;
const listBegun = /^(\s*(?:- +)*)["']?([\w.*/-]+)["']?:\s+\[(?:[^[\]{}]*,)?\s*["']?([\w.*/-]*)$/;
const mapBegun = /^(\s*(?:- +)*)["']?([\w.*/-]+)["']?:\s+\{(?:[^{}]*,)?\s*["']?([\w.*/-]*)$/;
const mapValueBegun = /^(\s*(?:- +)*)["']?([\w.*/-]+)["']?:\s+\{(?:[^{}]*,)?\s*["']?([\w.*/-]+)["']?:\s+([\w.*/-]*)$/;

/** The place at this offset of a text in block style; null where nothing is known, as in a comment or a long text. */
export function yamlPosition(text: string, offset: number): YamlPosition | null {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  const line = before.slice(start);
  const above = start === 0 ? [] : before.slice(0, start - 1).split('\n');
  const at = (match: RegExpExecArray, last: number): { readonly outer: readonly string[]; readonly from: number } => ({
    outer: parentsOf(above, match[1] ?? ''),
    from: offset - (match[last] ?? '').length,
  });
  const [key, value, list] = [keyBegun.exec(line), valueBegun.exec(line), listBegun.exec(line)];
  if (key !== null) {
    const { outer, from } = at(key, 2);
    return { path: outer, kind: 'key', from };
  }
  if (value !== null) {
    const { outer, from } = at(value, 3);
    return { path: [...outer, value[2] ?? ''], kind: 'value', from };
  }
  if (list !== null) {
    const { outer, from } = at(list, 3);
    return { path: [...outer, list[2] ?? '', item], kind: 'value', from };
  }
  const inner = mapValueBegun.exec(line);
  if (inner !== null) {
    const { outer, from } = at(inner, 4);
    return { path: [...outer, inner[2] ?? '', inner[3] ?? ''], kind: 'value', from };
  }
  const map = mapBegun.exec(line);
  if (map === null) return null;
  const { outer, from } = at(map, 3);
  return { path: [...outer, map[2] ?? ''], kind: 'key', from };
}

/** The names around a line that begins with these spaces and dashes. */
function parentsOf(above: readonly string[], indent: string): readonly string[] {
  const path: string[] = [];
  let limit = indent.length;
  let isInList = false;
  const enter = (dashes: readonly number[]): void => {
    for (const column of dashes.toReversed()) {
      path.unshift(item);
      limit = column;
      isInList = true;
    }
  };
  enter(dashesOf(indent));
  for (const line of above.toReversed()) {
    if (limit === 0 && !isInList) break;
    const found = /^(\s*(?:- +)*)["']?([\w.*/-]+)["']?:(?:\s|$)/.exec(line);
    if (found === null) continue;
    const [, lead = '', key = ''] = found;
    const dashes = dashesOf(lead);
    const isOuter = lead.length < limit || (isInList && dashes.length === 0 && lead.length === limit);
    if (isOuter) {
      path.unshift(key);
      limit = lead.length;
      isInList = false;
      enter(dashes);
    } else if (lead.length === limit && dashes.length > 0 && !isInList) enter(dashes);
  }
  return path;
}

function dashesOf(indent: string): readonly number[] {
  return [...(indented.exec(indent)?.[1] ?? '').matchAll(/-/g)].map(({ index }) => index);
}
