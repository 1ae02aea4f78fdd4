import { describe, expect, it } from '@jest/globals';
import { namedStepIn, namedStepWithin } from '../../src/strategy/named-steps.js';

const names = { steps: 3, tools: ['find', 'core__find', 'mail'] };

describe('a text that means another step of its plan', () => {
  it.each([
    ...[
      '{step_1}',
      'sent to {step_1}: Hello',
      '{{step1}}',
      '{{ step_1.out }}',
      '${step_1.out}',
      '{steps[0].out}',
      '{{steps.1.email}}',
    ],
    ...[
      '{result_1}',
      '{{output1}}',
      '{results[0].name}',
      '{step one}',
      '{first step}',
      '{previous_result}',
      '{{last step}}',
    ],
    ...[
      '{the result of step 1}',
      '{email from step 1}',
      '{value_from_step_2}',
      '{address (from step 1)}',
      '$(step_1)',
      '{task_2.output}',
    ],
    ...[
      '<step_1>',
      '<result of step 1>',
      '<output from the previous step>',
      '[step 1]',
      '[[step_2.out]]',
      '[email from step 1]',
      '%step1%',
    ],
    ...['__step_1__', '$step_1', '$step_1.out', '#step2', '@step_1', 'Use $steps[0].out here', '#E1', 'mail #E2 now'],
    ...['{find}', '{{find.email}}', '{find_result}', '${core__find.out}', '{{steps.find.output}}', '{mail response}'],
    ...[
      'step_1',
      'steps[0].out',
      'step1.result',
      'step-1',
      'result of step 1',
      'The output of step 2',
      'result_of_step_1',
      '{{1}}',
      '${2}',
    ],
  ])('%s', (text) => {
    expect(namedStepIn(text, names)).not.toBeNull();
    expect(namedStepWithin({ a: [{ b: text }] }, names)).toBe(namedStepIn(text, names));
  });

  it('may be a member’s name', () => {
    expect(namedStepWithin({ '{step_1}': 'x' }, names)).toBe('{step_1}');
  });
});

describe('a text that is one', () => {
  it.each([
    ...[
      '$1.50',
      'It is $1',
      'from $1 to $2',
      'Dear {name}',
      'Dear {{first_name}}, {last_name}',
      'Hello ${USER}',
      '{0} and {1}',
      'a{1,2}',
    ],
    ...[
      'Step 1',
      'See step 1 of the manual (step 2)',
      'as found in step 1',
      'Step 1: preheat. Step 2: bake.',
      'the result of step 1 was good',
    ],
    ...[
      '{step_9}',
      '<step_4/>',
      '#E1E1E1',
      'issue #12',
      'C# 1',
      '@ann',
      'a@step.example',
      '[1]',
      '[Result 1](https://example.test)',
    ],
    ...[
      'MATCH (s:Step {number: 1}) RETURN s',
      "MATCH (n {name: 'step 1'}) RETURN n",
      'MERGE (n {step: 1})',
      '{"step": 1}',
      '[{"step": 1}]',
    ],
    ...[
      '<h1>Result</h1>',
      '<mail>x</mail>',
      '50% of step 1 and 20% of step 2',
      '__init__',
      '__proto__',
      'for (i of steps) { calls += 1 }',
    ],
    ...[
      'SELECT * FROM t WHERE id = $1 AND x = $2',
      '{findings}',
      '{mailbox}',
      'footsteps1',
      'misstep_1',
      '\\d{1}',
      '$result1=5',
      '',
    ],
  ])('%s', (text) => {
    expect(namedStepIn(text, names)).toBeNull();
  });

  it('takes no long to read, whatever is in it', () => {
    for (const piece of ['{', '[', '<step', '{a[', '%a', '__a_', '$(', '{step '])
      expect(namedStepIn(piece.repeat(30_000), names)).toBeNull();
  });
});
