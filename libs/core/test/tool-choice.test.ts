import { describe, expect, it } from '@jest/globals';
import { chooseTools, isAsChosen, toolChoiceOf } from '@sluice/core';
import type { ToolChoice } from '@sluice/core';

// A tool whose key is another one's id, and one whose key is one of the words.
const offered = [
  { id: 'core__find', key: 'find' },
  { id: 'mcp__s__note', key: 'core__find' },
  { id: 'core__none', key: 'none' },
];

describe('what a request’s tool_choice comes to (K-07)', () => {
  it.each<[asked: string | null, first: string | null, later: string | null]>([
    [null, null, null],
    ['', null, null],
    ['auto', null, null],
    ['none', 'none', 'none'],
    ['required', 'required', null],
    ['find', 'core__find', null],
    ['core__find', 'core__find', null],
    ['mcp__s__note', 'mcp__s__note', null],
    ['core__none', 'core__none', null],
  ])('%s: in the first iteration %s, in a later one %s', (asked, first, later) => {
    expect(chooseTools(asked, 1, offered)).toEqual({ ok: true, choice: first });
    expect(chooseTools(asked, 2, offered)).toEqual({ ok: true, choice: later });
  });

  it.each(['other', 'Find', 'any', ' auto', 'AUTO'])('%j is refused: no such tool is offered', (asked) => {
    expect(chooseTools(asked, 1, offered)).toEqual({
      ok: false,
      message: `tool_choice names \`${asked}\`, which is no tool that this request is offered. Write \`auto\`, \`none\`, \`required\`, or the key or id of an offered tool. Offered are: core__find, mcp__s__note, core__none.`,
    });
  });

  it('a refusal has an end, however long the name and the list are', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => ({ id: `core__t${n}`, key: `t${n}` }));
    const verdict = chooseTools('😀'.repeat(10_000), 1, many);
    expect(verdict).toMatchObject({ ok: false, message: expect.stringMatching(/core__t49\.$/) });
    expect(JSON.stringify(verdict).length).toBeLessThan(2_000);
  });

  it('where nothing is offered, none and auto can be had, and nothing that needs a tool', () => {
    expect(chooseTools('none', 1, [])).toEqual({ ok: true, choice: 'none' });
    expect(chooseTools('auto', 1, [])).toEqual({ ok: true, choice: null });
    expect(chooseTools('required', 1, [])).toMatchObject({ ok: false, message: expect.stringMatching(/no tool/) });
    expect(chooseTools('find', 1, [])).toMatchObject({
      ok: false,
      message: expect.stringMatching(/offered no tool\.$/),
    });
  });

  it.each<[string | null, ToolChoice]>([
    [null, { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    ['core__none', { type: 'tool', id: 'core__none' }],
  ])('is read from a record: %s', (recorded, choice) => expect(toolChoiceOf(recorded)).toEqual(choice));
});

describe('a turn is one that was asked for (K-07)', () => {
  const calls = (...tools: string[]) => tools.map((tool) => ({ tool }));

  it.each<[recorded: string | null, nothing: boolean, other: boolean, both: boolean]>([
    [null, true, true, true],
    ['none', true, true, true],
    ['required', false, true, true],
    ['core__find', false, false, true],
  ])('under %s, where it calls nothing: %s, another tool: %s, two tools: %s', (recorded, nothing, other, both) => {
    const choice = toolChoiceOf(recorded);
    expect(isAsChosen(choice, [])).toBe(nothing);
    expect(isAsChosen(choice, calls('mcp__s__note'))).toBe(other);
    expect(isAsChosen(choice, calls('mcp__s__note', 'core__find'))).toBe(both);
  });
});
