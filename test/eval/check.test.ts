import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { check } from '../../apps/sluice/src/eval/check.js';
import type { RunEnd } from '../../apps/sluice/src/eval/check.js';
import { jsonPath, valueAt } from '../../apps/sluice/src/eval/json-path.js';
import { asJunit } from '../../apps/sluice/src/eval/report.js';
import { resultOf } from '../../apps/sluice/src/eval/result.js';
import type { CaseResult } from '../../apps/sluice/src/eval/result.js';
import type { AgentResponse } from '@sluice/contracts';
import { usage } from '../../apps/sluice/src/commands/eval.js';
import { projectRoot } from '../harness/configurations.js';

const end: RunEnd = {
  outcome: 'answer',
  said: '{"rows":[{"name":"Rome"}],"a b":null}',
  tools: ['a', 'b', 'a'],
  states: ['x'],
};
const answer = { outcome: 'answer' };

describe('what a case expects', () => {
  it.each([
    ['the tools in order', { tools: ['a', 'b', 'a'] }],
    ['the tools as a set', { tools: { set: ['b', 'a'] } }],
    ['the states', { states: ['x'] }],
    ['the most calls', { max_steps: 3 }],
    ['a part of the answer', { answer: { contains: ['Rome'] } }],
    ['what is not in the answer', { answer: { excludes: ['Paris'] } }],
    ['a pattern', { answer: { matches: ['"R\\w+"'] } }],
    ['the whole answer, but for space around it', { answer: { equals: ` ${end.said}\n` } }],
    [
      'values in a JSON answer',
      { answer: { json: { '$.rows[0].name': 'Rome', '$.rows[0]': { name: 'Rome' }, '$["a b"]': null } } },
    ],
  ])('holds: %s', (_, expect_) => expect(check(end, { ...answer, ...expect_ })).toEqual([]));

  it('looks for values in the JSON of an answer that has to fit a schema', () => {
    const fenced = { ...end, said: '```json\n{"n":1}\n```', structured: '{"n":1}' };
    expect(check(fenced, { ...answer, answer: { json: { '$.n': 1 } } })).toEqual([]);
    expect(check({ ...fenced, structured: null }, { ...answer, answer: { json: { '$.n': 1 } } })).toHaveLength(1);
  });

  it.each([
    [{ tools: ['a', 'a', 'b'] }, 'It called a, b, a, not a, a, b.'],
    [{ tools: { set: ['a'] } }, 'It called a, b in any order, not a.'],
    [{ states: [] }, 'It went to the states x, not none.'],
    [{ max_steps: 2 }, 'It made 3 calls, and may make 2.'],
    [{ answer: { contains: ['Paris'] } }, 'The answer does not have “Paris”.'],
    [{ answer: { excludes: ['Rome'] } }, 'The answer has “Rome”.'],
    [{ answer: { matches: ['^R'] } }, 'The answer does not match ^R.'],
    [
      { answer: { matches: ['([^x]+)+x$'] } },
      'Whether the answer matches ([^x]+)+x$ takes too long. Write a simpler pattern.',
    ],
    [{ answer: { equals: 'Rome' } }, 'The answer is not “Rome”.'],
    [{ answer: { json: { '$.rows[1]': 1 } } }, 'The answer has nothing at $.rows[1], not 1.'],
    [{ answer: { json: { '$.rows[0].name': 'Paris' } } }, 'The answer has "Rome" at $.rows[0].name, not "Paris".'],
  ])('does not hold: %j', (expect_, sentence) => {
    const [first, ...more] = check(end, { ...answer, ...expect_ });
    expect([first?.startsWith(sentence), more]).toEqual([true, []]);
  });

  it('is another end: an error is named with its message', () => {
    const failed = { ...end, outcome: 'deadline_exceeded', said: 'Too late.' };
    expect(check(failed, answer)).toEqual(['It ended with deadline_exceeded, not answer: Too late.']);
    expect(check(failed, { outcome: 'deadline_exceeded' })).toEqual([]);
    expect(check({ ...end, said: 'text' }, { ...answer, answer: { json: { $: 1 } } })).toEqual([
      'The answer is no JSON. The answer is: text',
    ]);
  });
});

it('a path names members and places, and nothing that is inherited', () => {
  expect(jsonPath('$.a[0]["b\\"c"].d-e')).toEqual(['a', 0, 'b"c', 'd-e']);
  for (const bad of ['a', '$a', '$.', '$[x]', '$..a', '$.a b']) expect([bad, jsonPath(bad)]).toEqual([bad, null]);
  expect(valueAt({ a: [1] }, ['constructor'])).toBeUndefined();
  expect(valueAt({ a: [1] }, ['a', 'length'])).toBeUndefined();
  expect(valueAt({ a: [1] }, ['a', 0])).toBe(1);
});

it('JUnit’s XML holds whatever an answer says', () => {
  const one: CaseResult = {
    ...{ ...end, name: 'a', strategy: 'react', model: 'x/y', requestId: 'r', steps: 0, iterations: 1 },
    ...{ inputTokens: 0, outputTokens: 0, usd: null, milliseconds: 1_500 },
    failures: ['<b>&"\u0007\ud800', 'second'],
  };
  expect(asJunit([one])).toContain(
    '<testcase classname="react, x/y" name="a" time="1.5">\n      <failure message="&#60;b&#62;&#38;&#34;\ufffd">&#60;b&#62;&#38;&#34;\ufffd&#10;second</failure>',
  );
});

it('what a run cost is by the price of each model that answered', () => {
  const tokens = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 0, cacheWriteTokens: 0 };
  const usd = (otherModels: object | null) => {
    const response = { run: { ...tokens, startedAt: 0, otherModels }, history: [], requestId: 'r', iterations: 1 };
    const about = { expect: answer, brought: 0, price: { input: 1, output: 1 } };
    return resultOf({ name: 'a', strategy: 'react', model: 'm' }, response as unknown as AgentResponse, end, about).usd;
  };
  expect([usd(null), usd({ ...tokens, microUsd: 500 })]).toEqual([0.000012, 0.0005]);
});

describe('docs/evaluation.md', () => {
  const page = readFileSync(join(projectRoot, 'docs/evaluation.md'), 'utf8');
  const source = readFileSync(join(projectRoot, 'apps/sluice/src/eval/cases.ts'), 'utf8');
  const keysOf = (name: string): string[] => {
    const [, body = ''] = source.split(`const ${name} = z.strictObject({`);
    return [...(body.split('\n});', 1)[0] ?? '').matchAll(/^ {2}(\w+):/gm)].map((match) => match[1] ?? '');
  };

  it('has exactly the keys that a file of cases may have', () => {
    const rows = [...page.matchAll(/^\| `([\w.<>]+)` \|/gm)].map((match) => match[1] ?? '');
    const wanted = [
      ...keysOf('evaluation'),
      ...keysOf('oneCase').map((key) => `cases.${key}`),
      ...keysOf('expectation').map((key) => `expect.${key}`),
      ...keysOf('answer').map((key) => `answer.${key}`),
    ];
    expect(rows.toSorted()).toEqual(wanted.toSorted());
  });

  it('has exactly the options that there are', () => {
    const rows = [...page.matchAll(/^\| `(--[a-z]+)`/gm)].map((match) => match[1] ?? '');
    expect(rows.toSorted()).toEqual([...new Set(usage.match(/--[a-z]+/g))].toSorted());
  });
});
