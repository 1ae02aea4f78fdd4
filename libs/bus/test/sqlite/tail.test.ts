import { describe, expect, it } from '@jest/globals';
import { openDatabase } from '../../src/sqlite/database.js';
import { topicIds } from '../../src/sqlite/append.js';
import type { StoredPosition } from '../../src/sqlite/append.js';
import { Tail } from '../../src/sqlite/tail.js';
import { inFolder } from './on-file.js';

const position = (seq: number, offset: number): StoredPosition => ({ topic: 'agent.steps', offset, seq, timestamp: 0 });

/** The tail of an empty log, and what commits positions to it. */
const onTail = (work: (tail: Tail, commit: (...positions: StoredPosition[]) => void) => void): Promise<void> =>
  inFolder(async (file) => {
    const database = openDatabase(file);
    const tail = new Tail(database, topicIds(database));
    work(tail, (...positions) => {
      tail.begins();
      for (const one of positions) tail.appended(one);
      tail.committed();
    });
    database.close();
  });

describe('the end of the log, as a process knows it', () => {
  it('goes on with what the process commits, without the file', () =>
    onTail((tail, commit) => {
      const { seq } = tail.read();
      commit(position(seq, 0), position(seq + 1, 1));
      expect(tail.known().seq).toBe(seq + 2);
      expect(tail.known().offsets.get('agent.steps')).toBe(2);
      expect(tail.from('agent.steps', 1, 2, 10)).toEqual([position(seq + 1, 1)]);
      expect(tail.from('agent.steps', 0, 2, 1)).toEqual([position(seq, 0)]);
    }));

  it('has nothing of a transaction that was not committed', () =>
    onTail((tail, commit) => {
      const { seq } = tail.read();
      tail.begins();
      tail.appended(position(seq, 0));
      commit(position(seq, 0));
      expect(tail.known().seq).toBe(seq + 1);
      expect(tail.from('agent.steps', 0, 1, 10)).toEqual([position(seq, 0)]);
    }));

  it('asks the file once another process has appended in between', () =>
    onTail((tail, commit) => {
      const { seq } = tail.read();
      commit(position(seq, 0));
      // Offset 1 is another process’s. The file of this test has none of them.
      commit(position(seq + 2, 2));
      expect(tail.known().seq).toBe(seq);
      expect(tail.from('agent.steps', 0, 3, 10)).toBeUndefined();
      expect(tail.from('agent.steps', 2, 3, 10)).toEqual([position(seq + 2, 2)]);
      // And one that came behind.
      expect(tail.from('agent.steps', 2, 4, 10)).toBeUndefined();
    }));

  it('forgets the oldest positions of many, and all that another process may have changed', () =>
    onTail((tail, commit) => {
      const { seq } = tail.read();
      for (let n = 0; n < 3_000; n++) commit(position(seq + n, n));
      expect(tail.from('agent.steps', 0, 3_000, 10)).toBeUndefined();
      expect(tail.from('agent.steps', 2_000, 3_000, 10)).toHaveLength(10);
      tail.changed();
      expect(tail.from('agent.steps', 2_000, 3_000, 10)).toBeUndefined();
      expect(tail.known().seq).toBe(seq);
    }));
});
