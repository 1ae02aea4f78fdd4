import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { compileEvaluator } from '@sluice/core';
import { recommendGroups } from '@sluice/discovery';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

function evaluatorOf(tools: Readonly<Record<string, readonly [description: string, ...groups: string[]]>>) {
  const tool = Object.fromEntries(
    Object.entries(tools).map(([key, [description, ...group]]) => [
      key,
      { type: 'knowledge-query', description, group },
    ]),
  );
  const group = { knowledge: { read: ['find-entities'], write: ['merge-entities'] } };
  const file = { tool, group, policy: { allowed_tools: ['*'], approval: { none: 'this is a test' } } };
  const { configuration, problems } = compileConfiguration(file, sampleInputs);
  if (configuration === null) throw new Error(JSON.stringify(problems));
  return compileEvaluator(configuration);
}

const known = {
  'find-entities': ['Finds entities of the graph by their names'],
  'merge-entities': ['Merges two entities into one'],
} as const;
const evaluator = evaluatorOf({
  ...known,
  'send-letter': ['Sends a letter to a customer', 'office'],
  'print-letter': ['Prints a letter', 'office', 'paper'],
  'count-stock': ['Counts what is in stock', 'office', 'shop'],
  'secret-letter': ['Reads the secret letter of a customer', 'secret'],
});
const names = (question: string, permitted: readonly string[] = ['*'], habits?: ReadonlyMap<string, number>) =>
  recommendGroups(evaluator, permitted, question, habits).map(({ name }) => name);
const idOf = (key: string): string => evaluator.tool(key)?.id ?? '';

describe('the groups that suit a question', () => {
  it('come best first, with their tools and the words that match (G-174)', () => {
    const [first] = recommendGroups(evaluator, ['*'], 'How many are in stock?');
    expect(first).toEqual({
      name: 'shop',
      score: expect.any(Number),
      tools: [{ key: 'count-stock', score: expect.any(Number), words: ['stock'], called: 0 }],
    });
    expect(names('Print it.')).toEqual(['paper', 'office']);
    expect(names('Nothing of the kind')).toEqual([]);
  });

  it('are the narrower ones where a broader one adds nothing', () => {
    expect(names('Find the names')).toEqual(['knowledge/read', 'knowledge']);
    expect(names('Find the names and merge two')[0]).toBe('knowledge');
  });

  it('are among those that the caller may ask for: neither another group nor its tools count', () => {
    expect(names('Read the secret letter')[0]).toBe('secret');
    expect(names('Read the secret letter', ['office'])).toEqual(['office']);
    expect(names('Read the secret letter', [])).toEqual([]);
    expect(names('Find names', ['knowledge'])).toEqual(['knowledge/read', 'knowledge']);
    const office = { ...known, 'send-letter': ['Sends a letter to a customer', 'office'] } as const;
    const alone = evaluatorOf(office);
    const beside = evaluatorOf({ ...office, other: ['Reads the secret letter', 'secret'] });
    const asked = [['office'], 'Read the secret letter'] as const;
    expect(recommendGroups(beside, ...asked)).toEqual(recommendGroups(alone, ...asked));
  });

  it('follow from use as well, and from use alone none does (G-175)', () => {
    const letters = (habits?: ReadonlyMap<string, number>) =>
      names('letters for Ms Jones', ['paper', 'secret'], habits);
    expect(letters()).toEqual(['paper', 'secret']);
    const called = new Map([
      [idOf('secret-letter'), 8],
      [idOf('print-letter'), 2],
      [idOf('count-stock'), 90],
    ]);
    expect(letters(called)).toEqual(['secret', 'paper']);
    expect(letters(called)).toEqual(letters(called));
    const [first] = recommendGroups(evaluator, ['paper', 'secret'], 'letter', called);
    expect(first?.tools).toMatchObject([{ key: 'secret-letter', called: 1 }]);
    expect(names('letter', ['shop'], called)).toEqual([]);
  });

  it('are ten at most', () => {
    const many = Array.from(
      { length: 30 },
      (_, at) => [`tool-${String(at)}`, ['Sends letters', `g-${String(at)}`]] as const,
    );
    const found = recommendGroups(evaluatorOf({ ...Object.fromEntries(many), ...known }), ['*'], 'letters');
    expect(found).toHaveLength(10);
  });
});
