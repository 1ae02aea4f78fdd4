import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { hiddenReasons, isDecidedReason, runErrorOf, runErrors, toolErrorReasons } from '@sluice/core';

const root = join(import.meta.dirname, '../..');
const lists = { 'run errors': Object.keys(runErrors), reasons: Object.keys(toolErrorReasons), hidden: hiddenReasons };

/** Lists of a file that repeat a part of a closed list: what they mean by it belongs to the entries of the one list, as a property. */
function repeatedIn(path: string, text: string): readonly string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isArrayLiteralExpression(node)) {
      const names = node.elements.filter((one) => ts.isStringLiteralLike(one)).map(({ text: name }) => name);
      for (const [kind, all] of Object.entries(lists))
        if (names.length > 2 && names.every((name) => (all as readonly string[]).includes(name)))
          found.push(`${path}: ${kind}: ${names.join(', ')}`);
    }
    node.forEachChild(look);
  };
  look(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}

describe('error codes and reasons', () => {
  it('are listed in one place; what else is to be known of one stands with it', () => {
    const sources = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: root });
    expect(sources.flatMap((path) => repeatedIn(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });

  it('are seen where they are listed once more, so the test can fail', () => {
    const text =
      "const ends = new Set(['max_iterations', 'deadline_exceeded', 'budget_exceeded']); const two = ['group', 'state'];";
    expect(repeatedIn('a.ts', text)).toEqual(['a.ts: run errors: max_iterations, deadline_exceeded, budget_exceeded']);
  });

  it('have properties, and a code of a later version has none', () => {
    expect([isDecidedReason('not_allowed'), isDecidedReason('timeout'), isDecidedReason(null)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([runErrorOf('max_iterations')?.isBudget, runErrorOf('model_failed')?.byFilter]).toEqual([true, false]);
    for (const unknown of ['of_a_later_version', 'toString', '__proto__'])
      expect([runErrorOf(unknown), isDecidedReason(unknown)]).toEqual([undefined, false]);
  });
});
