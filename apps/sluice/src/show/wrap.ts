import { stripVTControlCharacters } from 'node:util';

/** A terminal narrower than this gets its lines as they are: there is no room to indent. */
const narrowest = 40;

/**
 * Breaks each line that is wider than the terminal at a space. What follows stands under the text of its line: behind
 * the label of a `  label   text` line, else two columns further in than the line. A word wider than the terminal,
 * such as an address, stays whole.
 */
export function wrap(text: string, columns: number): string {
  if (columns < narrowest) return text;
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= columns ? line : wrapLine(line, columns)))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  const indent = ' '.repeat(hangingIndent(line, columns));
  const lines: string[] = [];
  let current = '';
  // Each piece is a word with the spaces before it, so that columns of a table keep their gaps.
  for (const piece of line.match(/ *[^ ]+/g) ?? []) {
    const isFirst = current.trim() === '';
    if (isFirst || widthOf(current) + widthOf(piece) <= columns) current += piece;
    else {
      lines.push(current);
      current = indent + piece.trimStart();
    }
  }
  return [...lines, current].join('\n');
}

function hangingIndent(line: string, columns: number): number {
  const plain = stripVTControlCharacters(line);
  const [, label] = /^( *\S+(?: \S+)* {2,})\S/.exec(plain) ?? [];
  const [leading = ''] = /^ */.exec(plain) ?? [];
  return label !== undefined && label.length <= columns / 2 ? label.length : leading.length + 2;
}

/** Columns that a text takes, without the control sequences that set colours. */
function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}
