import { describe, expect, it } from '@jest/globals';
import { InTurn } from '../src/in-turn.js';

/** A call that ends when the test says so. */
function held(): { readonly call: () => Promise<string>; readonly end: () => void; readonly hasBegun: () => boolean } {
  const { promise, resolve } = Promise.withResolvers<string>();
  let begun = false;
  return {
    call: () => {
      begun = true;
      return promise;
    },
    end: () => resolve('ended'),
    hasBegun: () => begun,
  };
}

const yes = (): Promise<boolean> => Promise.resolve(true);
const no = (): Promise<boolean> => Promise.resolve(false);
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the calls of a session', () => {
  it('that cannot move the state wait for none that hangs, of either kind', async () => {
    const turns = new InTurn();
    void turns.besides(held().call, yes);
    void turns.alone(held().call);
    await expect(turns.besides(() => Promise.resolve('made'), yes)).resolves.toBe('made');
  });

  it('that can move it wait for each other alone', async () => {
    const turns = new InTurn();
    const [hanging, first, second] = [held(), held(), held()];
    void turns.besides(hanging.call, yes);
    const made = [turns.alone(first.call), turns.alone(second.call)];
    await soon();
    expect([hanging, first, second].map((one) => one.hasBegun())).toEqual([true, true, false]);
    first.end();
    await made[0];
    await soon();
    expect(second.hasBegun()).toBe(true);
    second.end();
    await expect(made[1]).resolves.toBe('ended');
  });

  it('that the present state does not permit wait for one that may move it, and for no other', async () => {
    const turns = new InTurn();
    const [moving, reading, later] = [held(), held(), held()];
    const moved = turns.alone(moving.call);
    void turns.besides(reading.call, no);
    await soon();
    expect(reading.hasBegun()).toBe(false);
    moving.end();
    await moved;
    await soon();
    expect(reading.hasBegun()).toBe(true);
    void turns.besides(later.call, no);
    await soon();
    expect(later.hasBegun()).toBe(true);
  });

  it('go on behind one that failed, or of which nothing is known', async () => {
    const turns = new InTurn();
    await expect(turns.alone(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    void turns.alone(held().call);
    const away = (): Promise<boolean> => Promise.reject(new Error('The database is away.'));
    const waiting = held();
    void turns.besides(waiting.call, away);
    await soon();
    expect(waiting.hasBegun()).toBe(false);
  });
});
