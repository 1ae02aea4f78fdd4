import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { partsOf, route } from '../../src/strategy/route.js';
import type { RouteFacts } from '../../src/strategy/route.js';

const facts: RouteFacts = {
  possible: ['react', 'plan', 'confidence'],
  question: 'Which countries border France?',
  ...{ isSettled: false, changes: false, hasStates: false, brought: 0, weak: 0 },
};
const two = 'Which countries border France, and what is the capital of Italy?';

describe('the strategy that rules choose', () => {
  it.each<[string, Partial<RouteFacts>, string]>([
    ['one part', {}, 'react'],
    ['several parts that only read', { question: two }, 'confidence'],
    ['several parts with a change in reach', { question: two, changes: true }, 'plan'],
    ['several parts over states', { question: two, hasStates: true }, 'plan'],
    ['a question of how sure an answer is', { question: 'How sure is it that Paris is the capital?' }, 'confidence'],
    ['weak steps before', { brought: 4, weak: 2 }, 'confidence'],
    ['one weak step before', { brought: 1, weak: 1 }, 'react'],
    ['a request that says what is called', { question: two, isSettled: true }, 'react'],
    ['several parts without confidence', { question: two, possible: ['react', 'plan'] }, 'plan'],
    ['several parts where none but react is possible', { question: two, changes: true, possible: ['react'] }, 'react'],
    ['one part where react is not possible', { possible: ['plan', 'confidence'] }, 'plan'],
  ])('for %s', (_, changes, name) => {
    const chosen = route({ ...facts, ...changes });
    expect(chosen.name).toBe(name);
    expect(chosen.reason).toMatch(/\.$/);
  });

  it.each([
    ['Which countries border France?', 1],
    [two, 2],
    ['Look up France, then reset the workflow.', 2],
    ['Salt and pepper', 1],
    ['Compare France and Spain. List their rivers; tell me the longest!', 3],
    ['…', 0],
  ])('counts the parts of %j', (question, parts) => expect(partsOf(question)).toBe(parts));

  it('is always a possible one, and the same for the same facts', () => {
    const names = ['react', 'plan', 'confidence'] as const;
    const any = fc.record({
      possible: fc.subarray([...names], { minLength: 1 }),
      question: fc.oneof(fc.string(), fc.constantFrom(two, facts.question, 'Verify it.')),
      ...{ isSettled: fc.boolean(), changes: fc.boolean(), hasStates: fc.boolean() },
      ...{ brought: fc.nat({ max: 5 }), weak: fc.nat({ max: 5 }) },
    });
    fc.assert(
      fc.property(any, (given) => {
        const chosen = route(given);
        expect(given.possible).toContain(chosen.name);
        expect(route(given)).toEqual(chosen);
      }),
    );
  });
});
