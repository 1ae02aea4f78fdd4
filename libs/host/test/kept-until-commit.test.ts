import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { HandlerContext } from '@sluice/bus';
import { withLogContext } from '@sluice/host';
import { staysAbout } from '../src/log-context.js';

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Not made where the contexts are, else it would keep them itself. */
const action = (): void => undefined;

/** As the bus does it: the actions outlive the handling, by as long as their commit takes. */
function handled(actions: (() => void)[]): readonly WeakRef<object>[] {
  const given = { attempt: 1, afterCommit: (action: () => void) => void actions.push(action) } as HandlerContext;
  return withLogContext({ request_id: 'r-1' }, () => {
    const context = staysAbout(given);
    context.afterCommit(action);
    return [new WeakRef(given), new WeakRef(context)];
  });
}

// Under a backlog thousands of records wait for their commit, and what they keep is copied by each collection of the
// young generation.
it('what is to be done after a commit does not keep the context of the handler that asked for it', async () => {
  const collect = collector();
  const actions: (() => void)[] = [];
  const contexts = handled(actions);
  expect(contexts.map((context) => context.deref() === undefined)).toEqual([false, false]);
  await turn();
  collect();
  expect(contexts.map((context) => context.deref() === undefined)).toEqual([true, true]);
  expect(actions).toHaveLength(1);
});
