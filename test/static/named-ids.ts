import ts from 'typescript';

/** An id of the tool-use specification, such as T-26b1, P-04a or T-F2b; not a part of another document's, such as D-T40. */
const form = /(?<![\w-])[TPELCSKA]-F?\d{1,2}[a-z]?\d?(?!\w)/g;

/** The ids that the names of a file's tests hold: titles, and the rows of tables they are made from. What stands elsewhere names no test. */
export function idsInNames(text: string): readonly string[] {
  const file = ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    const [first] = ts.isCallExpression(node) ? node.arguments : [];
    if (first !== undefined && isTest((node as ts.CallExpression).expression)) found.push(...idsIn(first));
    node.forEachChild(look);
  };
  look(file);
  return found;
}

/** The ids of cases that are kept as data: a case's `requirements` is part of its test's name. */
export function idsInCases(text: string): readonly string[] {
  return [...text.matchAll(/^\s*(?:- )?requirements: (.*)$/gm)].flatMap(([, ids = '']) => ids.match(form) ?? []);
}

/** `it`, `describe`, and what is behind a point of theirs, called or not: `it.each`, `it.each(table)`. */
function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return callee.text === 'it' || callee.text === 'describe';
  if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) return isTest(callee.expression);
  return false;
}

function idsIn(node: ts.Node): readonly string[] {
  const own = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  const found: string[] = own ? [...(node.text.match(form) ?? [])] : [];
  node.forEachChild((child) => void found.push(...idsIn(child)));
  return found;
}
