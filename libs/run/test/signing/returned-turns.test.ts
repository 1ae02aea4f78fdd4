import { beforeAll, describe, expect, it } from '@jest/globals';
import { beginRun, localPrincipal } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { AgentStepResult, OfferedList, Toolset } from '@sluice/contracts';
import { createSignatures, createVerifier, newKeySet } from '@sluice/identity';
import { isSignedBy, returnedTurn, signGrant, signReturned, verifyRecord, verifyReturned } from '@sluice/run';

const keys = newKeySet(0);
const clock = { now: () => 1_000 };
/** Two filters of one system, each with its own batches. */
const filters = [0, 1].map(() => ({ signatures: createSignatures(keys), clock }));
const [filter, other] = filters as [(typeof filters)[0], (typeof filters)[0]];
/** Of a process that has seen none of the tokens. */
const verifying = { signatures: createVerifier(keys), clock };
const list: OfferedList = { hash: 'h', indexes: [0, 3], since: 1 };

const limits = { maxIterations: 10, runMs: 60_000, historyBytes: 1_000 };
function granted(n: number, of: OfferedList | null): Toolset {
  const ids = { requestId: `r-${n}`, sessionId: `s-${n % 2}` };
  const request = { ...make.agentRequest({ question: 'Q' }), ...ids };
  const run = beginRun(request, ['read-only'], 'undefined', limits, localPrincipal, 1);
  const tools = ['core__a'].map((id) => ({
    ...{ id, key: 'a', description: 'A.', inputSchema: '{}', effect: 'read_only', schemaHash: 'h' },
  }));
  return make.toolset({
    ...ids,
    ...{ iteration: 1, request, run, groups: ['read-only'], state: 'undefined', configVersion: 'c-1', decidedAt: 1 },
    tools: of === null ? tools : [],
    list: of,
  });
}

const message = (record: AgentStepResult) => ({ topic: topics.steps, record, timestamp: Date.now() });
const isTaken = async (record: AgentStepResult): Promise<boolean> => {
  try {
    await verifyReturned(record, verifying);
    await verifyRecord(message(record), verifying, 'filter');
    return true;
  } catch {
    return false;
  }
};

describe.each([
  ['names its tools', list],
  ['has them written out, as former versions wrote it', null],
])('turns that filters take back, of a Toolset that %s', (_, of) => {
  let toolsets: Toolset[];
  let returned: AgentStepResult[];
  beforeAll(async () => {
    toolsets = await Promise.all([0, 1, 2, 3].map((n) => signGrant(granted(n, of), filter)));
    // Two filters take the same ones back at once, several each.
    const taking = filters.map((one) =>
      Promise.all(toolsets.map((toolset) => signReturned(returnedTurn(toolset), one))),
    );
    returned = (await Promise.all(taking)).flat();
  });

  it('carry the filter’s signature over the whole, whichever of them signed, and alone or many at once', async () => {
    const [first = granted(0, of)] = toolsets;
    const alone = await signReturned(returnedTurn(first), other);
    expect(returned).toHaveLength(8);
    for (const record of [alone, ...returned]) {
      expect(record).toMatchObject({ list: null, steps: [], signature: expect.any(String) });
      // A filter of a former version may be the one that decides it again.
      expect(record.recordSignature).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+(~\d+~[\w-]*~[\w-]+)?$/);
      expect(await isSignedBy('filter', topics.steps, record, verifying.signatures)).toBe(true);
      expect(await isTaken(record)).toBe(true);
    }
  });

  it('are none where they have another’s signature, another’s grant, or say another thing', async () => {
    const [one, next] = returned as [AgentStepResult, AgentStepResult];
    const forged: Partial<AgentStepResult>[] = [
      { recordSignature: next.recordSignature },
      { recordSignature: null },
      { recordSignature: '~0~~' },
      { signature: next.signature },
      { signature: null },
      { list },
      { run: { ...one.run, deadline: 1 } },
      { next: { ...one.next, question: 'Another?' } },
      { configVersion: 'c-2' },
    ];
    for (const change of forged) expect([change, await isTaken({ ...one, ...change })]).toEqual([change, false]);
    expect(await isSignedBy('executor', topics.steps, one, verifying.signatures)).toBe(false);
  });
});
