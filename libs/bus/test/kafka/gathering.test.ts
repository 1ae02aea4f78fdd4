import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Gathering } from '../../src/kafka/commit/gathering.js';

describe('What a transaction waits for', () => {
  let waiting = 0;
  let gathering: Gathering;
  let isOver: boolean;

  /** So much later, with what follows from it. */
  const later = async (ms: number): Promise<void> => {
    await jest.advanceTimersByTimeAsync(ms);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  };

  const rest = (): void => {
    isOver = false;
    void gathering.rest(() => waiting).then(() => (isOver = true));
  };

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    waiting = 1;
    gathering = new Gathering();
  });
  afterEach(() => void jest.useRealTimers());

  it('is nothing for the first, and for one record after one', async () => {
    rest();
    await later(0);
    expect(isOver).toBe(true);
    gathering.took(1);
    rest();
    await later(0);
    expect(isOver).toBe(true);
  });

  it('is as many records as the one before had, and no longer', async () => {
    gathering.took(3);
    rest();
    waiting = 2;
    gathering.more();
    await later(1);
    expect(isOver).toBe(false);
    waiting = 3;
    gathering.more();
    await later(0);
    expect(isOver).toBe(true);
  });

  it('is two milliseconds where they do not come', async () => {
    gathering.took(3);
    rest();
    await later(1);
    expect(isOver).toBe(false);
    await later(1);
    expect(isOver).toBe(true);
    gathering.more();
  });
});
