import ts from 'typescript';
import type { Sources } from './program.js';

/** The members by which a tool's code is reached, and whose they are. */
const members = [
  { member: 'exec', of: 'BoundTool', from: 'libs/core/src/tool/types.ts' },
  { member: 'execute', of: 'ToolContract', from: 'libs/tools/src/contract.ts' },
  { member: 'call', of: 'McpHub', from: 'libs/tools/src/mcp/hub.ts' },
] as const;

/** What reaches an MCP server's tool past the hub. */
const wire = { method: 'callTool', literal: 'tools/call' } as const;

/**
 * Every place that reaches for a tool's code or a server's tool, as `file: member`: called, kept, taken out of its object or named by a text,
 * under whatever name its object goes. Objects are known by their types, so that renaming hides nothing.
 */
export function waysToATool({ checker, files, typeNamed }: Sources): readonly string[] {
  const wanted = members.map(({ member, of, from }) => ({ member, type: typeNamed(from, of) }));
  const found = new Set<string>();

  const reaches = (object: ts.Type, member: string): boolean => {
    if (member === wire.method) return true;
    if (object.flags & (ts.TypeFlags.Any | ts.TypeFlags.Never)) return false;
    const given = checker.getNonNullableType(object);
    return wanted.some((one) => one.member === member && checker.isTypeAssignableTo(given, one.type));
  };
  const look = (path: string, node: ts.Node): void => {
    const [object, member] = reached(node);
    if (object !== undefined && member !== undefined && reaches(checker.getTypeAtLocation(object), member))
      found.add(`${path}: ${member}`);
    if (ts.isStringLiteralLike(node) && node.text === wire.literal) found.add(`${path}: ${wire.literal}`);
    node.forEachChild((child) => look(path, child));
  };
  for (const { path, file } of files) look(path, file);
  return [...found].sort();
}

/** The object and the member that a piece of code takes from it: `tool.exec`, `tool['exec']`, `{ exec } = tool`. */
function reached(node: ts.Node): readonly [object: ts.Node | undefined, member: string | undefined] {
  if (ts.isPropertyAccessExpression(node)) return [node.expression, node.name.text];
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
    return [node.expression, node.argumentExpression.text];
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
    const name = node.propertyName ?? node.name;
    return [node.parent, ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : undefined];
  }
  return [undefined, undefined];
}
