import ts from 'typescript';
import type { CommentLine } from './comments.js';

/** What a file says apart from its comments; each entry is one line or one name. */
export interface Texts {
  /** Lines of string literals and templates, imports and test titles apart. */
  readonly literals: readonly CommentLine[];
  readonly titles: readonly CommentLine[];
  /** Names that the file declares and exports. */
  readonly exported: readonly CommentLine[];
}

export function textsOf(path: string, text: string): Texts {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (pos: number): number => file.getLineAndCharacterOfPosition(pos).line + 1;
  const literals: CommentLine[] = [];
  const titles: CommentLine[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    const spoken = spokenText(node);
    if (spoken !== null) {
      const into = isTitle(node) ? titles : literals;
      const first = lineAt(node.getStart(file));
      into.push(...spoken.split('\n').map((line, at) => ({ path, line: first + at, text: line.trim() })));
    }
    ts.forEachChild(node, look);
  };
  look(file);
  const exported = file.statements.flatMap(exportedNames).map((name) => ({
    path,
    line: lineAt(name.getStart(file)),
    text: name.text,
  }));
  return { literals, titles, exported };
}

/** The words of a camel-cased or constant-cased name, in lower case: `toldPlaceOf` has told, place and of. */
export const partsOf = (name: string): readonly string[] =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((part) => part.toLowerCase());

function spokenText(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node) ? node.text : null;
}

/** A title is the first argument of it, test or describe, or of what their `each`, `skip` or `only` return. */
function isTitle(node: ts.Node): boolean {
  const first = ts.isStringLiteralLike(node) ? node : enclosingTemplate(node);
  const call = first.parent;
  return ts.isCallExpression(call) && call.arguments[0] === first && isTestFunction(call.expression);
}

function enclosingTemplate(node: ts.Node): ts.Node {
  return ts.isTemplateHead(node) ? node.parent : node.parent.parent;
}

function isTestFunction(node: ts.Expression): boolean {
  if (ts.isIdentifier(node)) return /^(?:it|test|describe)(?:[A-Z]\w*)?$/.test(node.text);
  return (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) && isTestFunction(node.expression);
}

function exportedNames(statement: ts.Statement): readonly ts.Identifier[] {
  if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    if (clause === undefined || !ts.isNamedExports(clause) || statement.moduleSpecifier !== undefined) return [];
    return clause.elements.map(({ name }) => name).filter((name) => ts.isIdentifier(name));
  }
  if (!ts.canHaveModifiers(statement)) return [];
  if (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name] : []));
  const { name } = statement as ts.DeclarationStatement;
  return name !== undefined && ts.isIdentifier(name) ? [name] : [];
}
