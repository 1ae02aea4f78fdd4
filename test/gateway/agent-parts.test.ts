import { describe, expect, it } from '@jest/globals';
import type { Incoming } from '@sluice/bus';
import { RunAccess } from '@sluice/host';
import { agentRunIdOf, RunsWithin } from '@sluice/run';
import { ofRecords } from '../../apps/gateway/src/record-view.js';
import { AgentParts } from '../../apps/gateway/src/stream/agent-parts.js';

const caller = { tenantId: 't', actorId: 'ada', subjectId: 'ada', groups: [], connections: [] };
const call = { tool: 'core__research', arguments: '{}', toolCallId: 'c-1' };
const ids = (requestId: string) => ({ requestId, sessionId: requestId, iteration: 1, thought: '', decision: null });

const record = (topic: string, body: object): Incoming =>
  ({ topic, partition: 0, offset: 0, key: '', record: body }) as unknown as Incoming;
const calling = (requestId: string) =>
  record('agent.tool-calls', {
    ...ids(requestId),
    calls: [call],
    request: { history: [], call: null },
    run: { principal: caller, inputTokens: 0, outputTokens: 0 },
  });
const runCalledBy = (requestId: string): string => agentRunIdOf({ requestId, iteration: 1 }, call as never, 0);
const offered = (requestId: string, principal: typeof caller) =>
  record('agent.toolsets', {
    ...{ ...ids(requestId), state: 's', tools: [], request: { history: [], call: null } },
    run: { principal, inputTokens: 0, outputTokens: 0 },
  });

/** Of agents’ runs nothing is looked up. */
const noRuntime = {} as ConstructorParameters<typeof RunAccess>[2];

/** Those of a run `r`. */
function agentParts(): AgentParts {
  const access = (requestId: string): RunAccess =>
    new RunAccess(caller, { requestId, isSender: () => Promise.resolve(false) }, noRuntime);
  return new AgentParts(new RunsWithin('r'), access, ofRecords);
}

describe('the work of agents on a stream', () => {
  const [outer, inner] = [runCalledBy('r'), runCalledBy(runCalledBy('r'))];
  const about = (run_id: string, caller_run_id: string) => ({ run_id, name: call.tool, call_id: 'c-1', caller_run_id });

  it('has the call that each agent is, of nested ones too', async () => {
    const parts = agentParts();
    expect(await parts.of(calling('r'))).toBeNull();
    const [chunk] = (await parts.of(offered(outer, caller))) ?? [];
    expect(chunk?.data[0]).toMatchObject({ type: 'agent', agent: about(outer, 'r'), chunk: { type: 'step-start' } });
    await parts.of(calling(outer));
    const [nested] = (await parts.of(offered(inner, caller))) ?? [];
    expect(nested?.data[0]).toMatchObject({ type: 'agent', agent: about(inner, outer) });
  });

  it('is none of a run that no call of this one is', async () => {
    expect(await agentParts().of(offered(outer, caller))).toBeNull();
  });

  it.each([
    ['another tenant', { ...caller, tenantId: 'other' }],
    ['another user', { ...caller, actorId: 'eve' }],
    ['another user’s user', { ...caller, subjectId: 'eve' }],
  ])('shows nothing of a run that %s has under the same id', async (_, principal) => {
    const parts = agentParts();
    await parts.of(calling('r'));
    expect(await parts.of(offered(outer, principal))).toEqual([]);
  });
});
