import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256 } from '@sluice/contracts';
import { run as approvals } from '../../apps/sluice/src/commands/approvals.js';
import { anyone, asked, begun, decide, short, startRunning } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { inProcess } from '../harness/in-process.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(...given: Parameters<typeof startRunning>): ReturnType<typeof startRunning> {
  const started = await startRunning(...given);
  system = started.opened;
  return started;
}

const other = '{"add":[{"subject":"Sluice","predicate":"is","object":"edited"}]}';
const edit = (editedArguments: string) => ({ editedArguments, editedHash: sha256(editedArguments) });
const differing = async ({ bus }: TestSystem) =>
  (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');

describe('an approver who changes the arguments of a call', () => {
  it('has it made with these, once; the step has both', async () => {
    const { opened, end } = await running(anyone, [{ calls: [calls.update] }]);
    const waiting = await asked(opened);
    expect(await decide(opened, waiting, 'approve', edit(other))).toMatchObject({
      ...{ notTaken: null, editedArguments: other, editedHash: sha256(other) },
    });
    const { history } = await end;
    expect(short(history)).toEqual([['graph-update', 'ok', null, 'analysis']]);
    expect(history[0]).toMatchObject({
      arguments: calls.update[1],
      edited: { arguments: other, argumentsHash: sha256(other), editedBy: 'user:ann' },
    });
    const begins = (await opened.all('agent.progress')).filter(({ record }) => record.kind === 'tool_call_start');
    expect(begins.map(({ record }) => JSON.parse(record.text))).toEqual([JSON.parse(other)]);
    expect(await begun(opened)).toEqual({ 'graph-update': 1 });
    expect(await differing(opened)).toEqual([]);
  });

  it('has them checked as any arguments are', async () => {
    const { opened, end } = await running(anyone, [{ calls: [calls.update] }]);
    await decide(opened, await asked(opened), 'approve', edit('{"add":7}'));
    const { history } = await end;
    expect(short(history)).toEqual([['graph-update', 'validation', null, 'analysis']]);
    expect(history[0]?.edited?.arguments).toBe('{"add":7}');
    expect(await begun(opened)).toEqual({});
    expect(await differing(opened)).toEqual([]);
  });

  it('cannot give what is not as its hash says', async () => {
    const { opened, end } = await running(anyone, [{ calls: [calls.update] }]);
    const waiting = await asked(opened);
    const changes = { editedArguments: other, editedHash: sha256('{}') };
    expect(await decide(opened, waiting, 'approve', changes)).toMatchObject({ notTaken: 'invalid_arguments' });
    await decide(opened, waiting, 'refuse');
    expect(short((await end).history)).toEqual([['graph-update', 'policy_denied', 'approval_refused', 'analysis']]);
    expect(await differing(opened)).toEqual([]);
  });

  it('does so by the command line too', async () => {
    const { opened, end } = await running(anyone, [{ calls: [calls.update] }]);
    const { requested } = await asked(opened);
    const { environment } = opened.embedded.runtime;
    const said = await inProcess(approvals, environment, 'approve', requested.approvalId, '--arguments', other);
    expect(said.code).toBe(0);
    expect((await end).history[0]?.edited?.arguments).toBe(other);
    await expect(
      inProcess(approvals, environment, 'approve', requested.approvalId, '--arguments', other, '--edit'),
    ).rejects.toThrow('not both');
  });
});
