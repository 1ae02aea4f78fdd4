import ts from 'typescript';

/** One change of a source file: the characters from `start` to `end` are replaced by `text`. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The old and the new text, in a line. */
  readonly what: string;
}

type Edit = readonly [node: { getStart(): number; getEnd(): number }, text: string];

const swapped: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
]);

/** Every change that is tried on a file, in the order of its text. */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const add = ([node, text]: Edit): void => {
    const [start, end] = [node.getStart(), node.getEnd()];
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    const short = (part: string): string => part.replace(/\s+/g, ' ').slice(0, 60);
    mutants.push({ file, line, start, end, text, what: `${short(source.slice(start, end))} → ${short(text)}` });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    for (const edit of editsOf(node)) add(edit);
    node.forEachChild(visit);
  };
  visit(tree);
  return mutants;
}

function editsOf(node: ts.Node): readonly Edit[] {
  if (ts.isBinaryExpression(node)) {
    const operator = swapped.get(node.operatorToken.kind);
    if (operator !== undefined) return [[node.operatorToken, operator]];
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return [[node, node.left.getText()]];
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [[node, `!!${node.operand.getText()}`]];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [[node, 'false']];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [[node, 'true']];
  if (ts.isIfStatement(node)) return [[node.expression, 'false']];
  if (ts.isConditionalExpression(node))
    return [[node, `(${node.condition.getText()}) ? ${node.whenFalse.getText()} : ${node.whenTrue.getText()}`]];
  if (ts.isExpressionStatement(node) && isCall(node.expression) && !isLog(node.getText())) return [[node, ';']];
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
    if (['filter', 'sort', 'slice', 'trim', 'toLowerCase'].includes(node.expression.name.text))
      return [[node, node.expression.expression.getText()]];
  return [];
}

function isCall(node: ts.Expression): boolean {
  return ts.isCallExpression(node) || (ts.isAwaitExpression(node) && ts.isCallExpression(node.expression));
}

/** What a log line says is no test's business. */
function isLog(text: string): boolean {
  return /\blog(ger)?\.(debug|info|warn|error)\(/.test(text);
}
