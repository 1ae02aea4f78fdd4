import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Outgoing } from '@sluice/bus';
import type { Toolset } from '@sluice/contracts';
import { ProgressText } from '../src/progress.js';

const toolset = { requestId: 'r', sessionId: 's', iteration: 1, run: { principal: null } } as unknown as Toolset;

describe('the text that a model writes', () => {
  let sent: { text: string; attempt: string; sequence: number }[];
  let progress: ProgressText;
  beforeEach(() => {
    jest.useFakeTimers();
    sent = [];
    const emit = (messages: readonly Outgoing[]): void => {
      for (const { record } of messages as readonly (Outgoing & { topic: 'agent.progress' })[])
        sent.push({ text: record.text, attempt: record.attempt, sequence: record.sequence });
    };
    progress = new ProgressText(toolset, 'a', { emit }, { now: () => 0 });
  });
  afterEach(() => void jest.useRealTimers());

  it('goes out at once where it begins, then gathered, numbered in order', () => {
    progress.add('To');
    expect(sent).toEqual([{ text: 'To', attempt: 'a', sequence: 0 }]);
    for (const piece of ['k', 'y', 'o']) progress.add(piece);
    expect(sent).toHaveLength(1);
    jest.advanceTimersByTime(25);
    expect(sent.slice(1)).toEqual([{ text: 'kyo', attempt: 'a', sequence: 1 }]);
    progress.add('.');
    progress.flush();
    expect(sent.map(({ text }) => text)).toEqual(['To', 'kyo', '.']);
    jest.advanceTimersByTime(1_000);
    expect(sent).toHaveLength(3);
  });

  it('has no white space around it, as the record of its turn has none, and all of that within it', () => {
    for (const piece of ['\n', ' To', 'kyo \n', '', '  is', ' there.', '\n\n']) progress.add(piece);
    progress.flush();
    expect(sent.map(({ text }) => text).join('')).toBe('Tokyo \n  is there.');
    expect(sent[0]).toEqual({ text: 'To', attempt: 'a', sequence: 0 });
  });

  it('goes out early where much of it comes, and never with half a character', () => {
    progress.add('x');
    progress.add(`${'y'.repeat(4_096)}\ud83d`);
    expect(sent[1]?.text).toBe('y'.repeat(4_096));
    progress.add('\ude00');
    jest.advanceTimersByTime(25);
    expect(sent[2]).toEqual({ text: '\u{1f600}', attempt: 'a', sequence: 2 });
  });
});
