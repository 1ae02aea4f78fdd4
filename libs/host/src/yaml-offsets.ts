import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Document, Node, YAMLError } from 'yaml';
import { nearest } from '@sluice/core';
import type { Problem } from '@sluice/core';

/** One step of a problem's path: `.key`, `["a key"]` or `[3]`. */
const step = /\.?([A-Za-z0-9_-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/**
 * Where in the text the place is that a problem's path names, or the last of it that is there: a key that is missing
 * is missing in its section. Null for a path that is of another file, or none.
 */
export function offsetOf(document: Document, path: string): number | null {
  let node: unknown = document.contents;
  let offset: number | null = null;
  step.lastIndex = 0;
  while (step.lastIndex < path.length) {
    const [whole, plain, place, quoted] = step.exec(path) ?? [];
    if (whole === undefined) return null;
    const found = within(node, place === undefined ? (plain ?? textOf(quoted ?? '')) : Number(place), document);
    if (found === null) return offset;
    [offset, node] = found;
  }
  return offset;
}

function within(node: unknown, at: string | number, document: Document): readonly [number | null, unknown] | null {
  const inner = isAlias(node) ? node.resolve(document) : node;
  if (typeof at === 'number') {
    const item = isSeq(inner) ? (inner.items[at] as Node | undefined) : undefined;
    return item === undefined ? null : [startOf(item), item];
  }
  // A list of tools, whose names are their keys.
  if (isSeq(inner)) {
    const item = inner.items.find((one) => isMap(one) && one.get('name') === at);
    return item === undefined ? null : [startOf(item), item];
  }
  if (!isMap(inner)) return null;
  const keys = new Map(inner.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : '', pair]));
  // A long key is cut, an entry for many tools is written out as `entry/tool`, and a misspelt key was read as the one
  // that was meant.
  const key = keys.has(at)
    ? at
    : ([...keys.keys()].find((one) => cutEqual(one, at) || (one !== '' && at.startsWith(`${one}/`))) ??
      nearest(at, [...keys.keys()]));
  const pair = key === undefined ? undefined : keys.get(key);
  return pair === undefined ? null : [startOf(pair.key), pair.value];
}

function cutEqual(key: string, shown: string): boolean {
  return shown.endsWith('…') && key.startsWith(shown.slice(0, -1));
}

function startOf(node: unknown): number | null {
  return (node as { readonly range?: readonly number[] | null } | null)?.range?.[0] ?? null;
}

function textOf(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return '';
  }
}

/** What is no YAML. A tab in an indentation is one mistake, whatever the parser makes of the rest. */
export function yamlProblems(file: string, text: string, errors: readonly YAMLError[]): readonly Problem[] {
  const lines = text.split('\n');
  const tab = lines.findIndex((line) => /^ *\t[ \t]*[^\s#]/.test(line));
  if (tab >= 0 && errors.some(({ code, linePos }) => code === 'TAB_AS_INDENT' || (linePos?.[0].line ?? 0) > tab)) {
    const path = `${file}:${String(tab + 1)}:${String((lines[tab] ?? '').indexOf('\t') + 1)}`;
    return [{ path, found: 'a tab in the indentation of the line', write: 'spaces: YAML is indented by spaces alone' }];
  }
  return errors.map((error) => {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    return {
      path: `${file}:${String(line)}:${String(col)}`,
      found: error.message.split('\n')[0] ?? '',
      write: 'YAML in which each key stands once',
    };
  });
}
