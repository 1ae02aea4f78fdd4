import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { claimMemoryMs, clockSkewMs } from '@sluice/core';

const root = join(import.meta.dirname, '../..');
/** The one file with the times that several services promise together. */
const home = 'libs/core/src/time-limits.ts';

/** The number that an expression of nothing but numbers gives; undefined for any other. */
function numberOf(node: ts.Node): number | undefined {
  if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll('_', ''));
  if (ts.isParenthesizedExpression(node)) return numberOf(node.expression);
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.AsteriskToken) return undefined;
  const [left, right] = [numberOf(node.left), numberOf(node.right)];
  return left === undefined || right === undefined ? undefined : left * right;
}

/** Where a file says by itself what is promised in the one place. */
function ownFigures(path: string, text: string): readonly string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (numberOf(node) === claimMemoryMs) return void found.push(`${path}: a week, ${node.getText()}`);
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined && numberOf(node.initializer) !== undefined) {
      const before = text.slice(node.parent.parent.getFullStart(), node.getStart());
      if (/skew|slack/i.test(node.name.getText()) || /\bclocks?\b[^.]*\b(?:differ|apart)/i.test(before))
        found.push(`${path}: how far clocks differ, ${node.getText()}`);
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.MinusToken) {
      if (/\bnow\(\)$|\w+At$/.test(node.left.getText()) && numberOf(node.right) !== undefined)
        found.push(`${path}: a time before now, ${node.getText()}`);
    }
    node.forEachChild(look);
  };
  look(file);
  return found;
}

const sources = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path !== home);

describe('times that services promise together', () => {
  it('stand in one file: how long claims are remembered, and how far clocks differ', () => {
    expect(sources.length).toBeGreaterThan(400);
    expect(sources.flatMap((path) => ownFigures(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });

  it.each([
    ['const memory = 7 * 24 * 3_600_000;', 'a week'],
    ['claim({ ttlMs: 604800000 });', 'a week'],
    ['const skewMs = 10_000;', 'how far clocks differ'],
    ['/** Clocks of brokers differ a little. */\nconst marginMs = 30_000;', 'how far clocks differ'],
    ['read({ from: clock.now() - 1_000 });', 'a time before now'],
    ['look(decidedAt - 1_000);', 'a time before now'],
  ])('are seen in %j, so the test can fail', (text, said) => {
    expect(ownFigures('a.ts', text)).toEqual([expect.stringContaining(said)]);
  });

  it('leave a figure that promises nothing alone', () => {
    expect(ownFigures('a.ts', 'const patienceMs = 60_000; wait(until - 1);')).toEqual([]);
    expect(clockSkewMs).toBe(60_000);
  });
});
