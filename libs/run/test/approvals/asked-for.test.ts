import { expect, it } from '@jest/globals';
import type { ApprovalDecided } from '@sluice/contracts';
import { approvalRequestFor } from '@sluice/run';

/** A log that has one question of an executor, at 1/5. */
const bus = {
  read: (_: unknown, { from }: { readonly from: unknown }) =>
    (async function* () {
      await Promise.resolve();
      yield { topic: 'agent.approvals', partition: 1, offset: 5, from, record: { requested: { approvalId: 'ap-1' } } };
    })(),
} as unknown as Parameters<typeof approvalRequestFor>[1];
const claims = (is: boolean) => ({ isVouched: () => Promise.resolve(is) });
const at = (requestedPartition: number | null, requestedOffset: number | null) =>
  ({ requestedPartition, requestedOffset }) as ApprovalDecided;

it('what a decision is for is what stands where it says, if an executor vouches for that', async () => {
  expect(await approvalRequestFor(at(1, 5), bus, claims(true))).toEqual({ approvalId: 'ap-1' });
  expect(await approvalRequestFor(at(1, 5), bus, claims(false))).toBeNull();
  expect(await approvalRequestFor(at(1, 6), bus, claims(true))).toBeNull();
  for (const nowhere of [at(null, 5), at(1, null)])
    expect(await approvalRequestFor(nowhere, bus, claims(true))).toBeNull();
});
