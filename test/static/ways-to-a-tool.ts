import ts from 'typescript';
import type { Sources } from './program.js';

/** The members by which a tool's code is reached, and whose they are. */
const members = [
  { member: 'exec', of: 'BoundTool', from: 'libs/core/src/tool/types.ts' },
  { member: 'execute', of: 'ToolContract', from: 'libs/tools/src/contract.ts' },
  { member: 'call', of: 'McpHub', from: 'libs/hub/src/hub.ts' },
] as const;

/** What reaches an MCP server's tool past the hub. */
const wire = { method: 'callTool', literal: 'tools/call' } as const;

/**
 * Every place that reaches for a tool's code or a server's tool, as `file: member`: called, kept, taken out of its
 * object or named by a text, under whatever name its object goes. Objects are known by their types, so that renaming
 * hides nothing; nor does a type that a tool is only a part of (a union, a type parameter, a Pick) or that only fits
 * a tool (an object with just the member).
 */
export function waysToATool({ checker, files, typeNamed }: Sources): readonly string[] {
  const wanted = members.map(({ member, of, from }) => ({ member, type: typeNamed(from, of) }));
  const found = new Set<string>();

  const isWanted = (member: string | undefined): member is string =>
    member === wire.method || wanted.some((one) => one.member === member);
  const reaches = (object: ts.Type, member: string): boolean => {
    if (member === wire.method) return true;
    if (object.flags & (ts.TypeFlags.Any | ts.TypeFlags.Never)) return false;
    return kindsOf(checker.getNonNullableType(object)).some((kind) =>
      wanted.some((one) => one.member === member && mayBe(kind, one.type, member)),
    );
  };
  /** What a value of the type may be: the members of a union, and what a type parameter extends. */
  const kindsOf = (type: ts.Type): readonly ts.Type[] => {
    const bound = type.flags & ts.TypeFlags.Instantiable ? checker.getBaseConstraintOfType(type) : type;
    if (bound === undefined) return [];
    return bound.isUnion() ? bound.types.flatMap((one) => kindsOf(one)) : [bound];
  };
  const mayBe = (kind: ts.Type, tool: ts.Type, member: string): boolean => {
    if (checker.isTypeAssignableTo(kind, tool)) return true;
    const taken = checker.getPropertyOfType(kind, member);
    return taken !== undefined && checker.isTypeAssignableTo(tool, kind);
  };
  const look = (path: string, node: ts.Node): void => {
    const [object, member] = reached(node, checker);
    // Only objects of which a member of that name is taken are worth asking for their type, which takes long.
    if (object !== undefined && isWanted(member) && reaches(checker.getTypeAtLocation(object), member))
      found.add(`${path}: ${member}`);
    if (ts.isStringLiteralLike(node) && node.text === wire.literal) found.add(`${path}: ${wire.literal}`);
    node.forEachChild((child) => look(path, child));
  };
  for (const { path, file } of files) look(path, file);
  return [...found].sort();
}

/**
 * The object and the member that a piece of code takes from it: `tool.exec`, `tool['exec']`, `tool[name]`, `{ exec }
 * = tool`.
 */
function reached(
  node: ts.Node,
  checker: ts.TypeChecker,
): readonly [object: ts.Node | undefined, member: string | undefined] {
  if (ts.isPropertyAccessExpression(node)) return [node.expression, node.name.text];
  if (ts.isElementAccessExpression(node)) {
    const name = checker.getTypeAtLocation(node.argumentExpression);
    return [node.expression, name.isStringLiteral() ? name.value : undefined];
  }
  // `({ exec: run } = tool)`: a pattern, though it is written as an object.
  if ((ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) && isAssigned(node.parent))
    return [node.parent.parent.right, ts.isIdentifier(node.name) ? node.name.text : undefined];
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
    const name = node.propertyName ?? node.name;
    return [node.parent, ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined];
  }
  return [undefined, undefined];
}

function isAssigned(
  object: ts.ObjectLiteralExpression,
): object is ts.ObjectLiteralExpression & { readonly parent: ts.BinaryExpression } {
  const { parent } = object;
  return (
    ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken && parent.left === object
  );
}
