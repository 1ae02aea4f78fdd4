import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { allTopics, auditedTopics, handledTopics, runTopics, storyTopics, topics } from '@sluice/contracts';
import {
  discoveryStrategies,
  hiddenReasons,
  isDecidedReason,
  runErrorOf,
  runErrors,
  toolErrorReasons,
} from '@sluice/core';

const root = join(import.meta.dirname, '../..');
const lists = {
  strategies: discoveryStrategies,
  'run errors': Object.keys(runErrors),
  reasons: Object.keys(toolErrorReasons),
  hidden: hiddenReasons,
};

/** Lists of topics that have a name: others are of who reads just these. */
const topicLists: Readonly<Record<string, readonly string[]>> = {
  allTopics,
  ...{ auditedTopics, handledTopics, runTopics, storyTopics },
};

/** A text, or the topic that stands as `topics.steps`. */
function nameIn(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  const isTopic =
    ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'topics';
  return isTopic ? topics[node.name.text as keyof typeof topics] : undefined;
}

/**
 * Lists of a file that repeat a part of a closed list: what they mean by it belongs to the entries of the one list,
 * as a property.
 */
function repeatedIn(path: string, text: string): readonly string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isArrayLiteralExpression(node)) {
      const names = node.elements.flatMap((one) => nameIn(one) ?? []);
      for (const [kind, all] of Object.entries(lists))
        if (names.length > 2 && names.every((name) => (all as readonly string[]).includes(name)))
          found.push(`${path}: ${kind}: ${names.join(', ')}`);
      for (const [list, all] of Object.entries(topicLists))
        if (names.length === all.length && all.every((topic) => names.includes(topic))) found.push(`${path}: ${list}`);
    }
    node.forEachChild(look);
  };
  look(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}

describe('closed lists', () => {
  it('are listed in one place; what else is to be known of one stands with it', () => {
    const sources = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: root });
    expect(sources.flatMap((path) => repeatedIn(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
  });

  it('are seen where they are listed once more, so the test can fail', () => {
    const text =
      "const ends = new Set(['max_iterations', 'deadline_exceeded', 'budget_exceeded']); const two = ['group', 'state'];";
    expect(repeatedIn('a.ts', text)).toEqual(['a.ts: run errors: max_iterations, deadline_exceeded, budget_exceeded']);
  });

  it('are seen where they repeat topics that have a name', () => {
    const text = `const read = [topics.toolsets, 'agent.tool-calls', topics.steps, topics.approvals, topics.responses];`;
    expect(repeatedIn('a.ts', text)).toEqual(['a.ts: storyTopics']);
    expect(repeatedIn('a.ts', 'const read = [topics.toolsets, topics.steps, topics.responses];')).toEqual([]);
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
