import { clientToolPrefix, clientToolsIn } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import type { Outgoing } from '@sluice/bus';
import { ClientCalls } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/** The calls that wait for the client of their run. */
interface ClientsCalls {
  /** Their places in the turn. */
  readonly indexes: readonly number[];
  keyOf(index: number): string;
  /** What parks their turn. */
  readonly outgoing: readonly Outgoing[];
}

/** Lets a door find the calls before the record that parks their turn says that there are some. */
export async function showClient(
  { calls, run, request }: ToolCall,
  { indexes, keyOf, outgoing }: ClientsCalls,
  runtime: Runtime,
): Promise<void> {
  const waits = new ClientCalls(runtime);
  const requested = outgoing.map(({ topic, record }) => (topic === topics.approvals ? record.requested : null));
  const asked = requested.find((one) => one?.question != null);
  if (asked == null || run.principal === null) return;
  const { approvalId: question, requestId, tenantId: tenant, expiresAt: until } = asked;
  const { actorId: actor, subjectId: subject } = run.principal;
  const { said = '' } = clientToolsIn(request.clientTools ?? '') ?? {};
  const shown = await Promise.all(
    indexes.map(async (index) => {
      const { tool, arguments: written } = calls[index] as RequestedCall;
      const args = (await waits.argumentsOf(keyOf(index))) ?? written;
      return { index, name: tool.slice(clientToolPrefix.length), arguments: args };
    }),
  );
  await waits.wait({ question, requestId, tenant, actor, subject, said, until }, shown, runtime.signatures);
}
