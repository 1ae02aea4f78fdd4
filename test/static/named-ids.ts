import ts from 'typescript';

/** An id of docs/requirements.md, such as T-26b1, P-04a, T-F2b, D-T40 or XB-3. */
const id = /(?:D-T\d+|DS-\d+|D-\d+b?|M-\d+|G-\d+|X[BGSMD]?-\d+|[TPELCSKA]-F?\d{1,2}[a-z]?\d?)/;
const form = new RegExp(`(?<![\\w-])${id.source}(?!\\w)`, 'g');
const range = /(?<![\w-])([A-Z]+-)(\d+) to \1(\d+)(?!\w)/g;

/** The ids that a text names; `G-108 to G-118` names eleven. */
export function idsInText(text: string): readonly string[] {
  const inRanges = [...text.matchAll(range)].flatMap(([, family = '', first = '', last = '']) =>
    Array.from(
      { length: Number(last) - Number(first) + 1 },
      (_, at) => `${family}${String(Number(first) + at).padStart(2, '0')}`,
    ),
  );
  return [...new Set([...(text.match(form) ?? []), ...inRanges])];
}

/** The titles of a file's tests, and the rows of tables they are made from. Text elsewhere names no test. */
export function titlesOf(text: string): readonly string[] {
  const file = ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    const [first] = ts.isCallExpression(node) ? node.arguments : [];
    if (first !== undefined && isTest((node as ts.CallExpression).expression)) found.push(...textsIn(first));
    node.forEachChild(look);
  };
  look(file);
  return found;
}

/** The ids of cases that are kept as data: a case's `requirements` is part of its test's name. */
export function idsInCases(text: string): readonly string[] {
  return [...text.matchAll(/^\s*(?:- )?requirements: (.*)$/gm)].flatMap(([, ids = '']) => idsInText(ids));
}

/** `it`, `describe`, and their properties, called or not: `it.each`, `it.each(table)`. */
function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return callee.text === 'it' || callee.text === 'describe';
  if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) return isTest(callee.expression);
  return false;
}

function textsIn(node: ts.Node): readonly string[] {
  const own = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  const found: string[] = own ? [node.text] : [];
  node.forEachChild((child) => void found.push(...textsIn(child)));
  return found;
}
