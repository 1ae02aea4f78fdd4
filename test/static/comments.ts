import ts from 'typescript';

export interface CommentLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Each line of a file's comments. */
export function commentLines(path: string, text: string): readonly CommentLine[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = new Map<number, ts.CommentRange>();
  const look = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ];
    for (const range of ranges) found.set(range.pos, range);
    for (const child of node.getChildren(file)) look(child);
  };
  look(file);
  return [...found.values()].flatMap(({ pos, end }) => {
    const first = file.getLineAndCharacterOfPosition(pos).line + 1;
    return text
      .slice(pos, end)
      .split('\n')
      .map((line, at) => ({ path, line: first + at, text: line.trim() }));
  });
}
