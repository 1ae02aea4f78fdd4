import { z } from 'zod';
import { Fault } from '@sluice/core';
import type { ClaimRequest, Ledger } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import type { SqliteBus } from '@sluice/bus';
import { defineTool } from '@sluice/tools';
import { run as deadLetters } from '../../apps/sluice/src/commands/dead-letters.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { inProcess } from '../harness/in-process.js';
import { ScriptedModel } from '../harness/system.js';
import { startWithTools } from '../harness/with-tools.js';
import { eventually } from '../security/forging.js';

const noServers = {
  discover: async () => [],
  connect: () => Promise.reject(new Error('There are no servers.')),
  call: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
};

/** All services, a tool whose effects are counted, and parts that can be put out of order and mended. */
export async function startDying(changes: { policy?: object; limits?: object; identity?: object } = {}) {
  /** How often each effect happened, by the run’s question and the call’s number. */
  const effects = new Map<string, number>();
  const act = defineTool({
    type: 'act',
    description: 'Does a thing that must not be done twice.',
    input: z.strictObject({ run: z.string(), n: z.number() }),
    output: z.unknown(),
    effect: 'external_side_effect',
    redaction: { whole: true },
    capabilities: [],
    repeatable: false,
    requiresConnection: false,
    execute: async ({ run, n }) => {
      effects.set(`${run}/${n}`, (effects.get(`${run}/${n}`) ?? 0) + 1);
      return { done: n };
    },
  });
  let modelRefuses = false;
  /** Two effects in the first turn, then the answer. */
  const model = new ScriptedModel(({ question, history }) => {
    if (modelRefuses)
      throw new Fault('model_refused', 'The model’s endpoint says 401: eyJhbGciOiJFZERTQSJ9.e30.c2ln', false);
    if (history.length > 0) return { answer: history.map(({ outcome }) => outcome).join() };
    return { calls: [1, 2].map((n) => ['core__act', JSON.stringify({ run: question, n })] as const) };
  });
  const configuration = {
    tool: { act: { type: 'act' } },
    policy: { allowed_tools: ['*'], ...changes.policy },
    ...(changes.limits === undefined ? {} : { limits: changes.limits }),
    ...(changes.identity === undefined ? {} : { identity: changes.identity }),
  };
  const system = await startWithTools(configuration, { contracts: [act], hub: noServers, model });
  const { runtime } = system.open;
  const bus = runtime.bus as SqliteBus;

  /** The claims with this beginning of their keys fail, as long as it is set. */
  let outage: string | null = null;
  const ledger = runtime.ledger as { claim: Ledger['claim'] };
  const claim = ledger.claim;
  ledger.claim = async (request: ClaimRequest) => {
    if (outage === null || !request.key.startsWith(outage)) return claim(request);
    throw new Fault('ledger_unreachable', 'The ledger does not answer.', false);
  };

  const responses = async (id: string): Promise<readonly AgentResponse[]> =>
    (await system.all(topics.responses)).map(({ record }) => record).filter(({ requestId }) => requestId === id);
  const publish = (id: string, more: Partial<AgentRequest> = {}, headers: Record<string, string> = {}) => {
    const record = { ...newRequest(id, { requestId: id, sessionId: `session-of-${id}` }), ...more };
    return bus.publish([{ topic: topics.requests, key: `session-of-${id}`, record, headers }]);
  };

  return {
    ...system,
    bus,
    runtime,
    effects,
    publish,
    responses,
    /** The claims of these keys fail until `mend`. */
    cutLedger: (prefix: string) => void (outage = prefix),
    /** From now on the policy allows no tool. */
    forbid: () => system.apply({ ...configuration, policy: { allowed_tools: [] } }),
    cutModel: () => void (modelRefuses = true),
    mend: () => {
      outage = null;
      modelRefuses = false;
    },
    /** Later by so many milliseconds, for the services. */
    later: (milliseconds: number) => void Object.assign(runtime, { clock: { now: () => Date.now() + milliseconds } }),
    /** The run’s n-th end, from 1. */
    end: (id: string, n = 1): Promise<AgentResponse> => eventually(async () => (await responses(id))[n - 1]),
    /** The id of the last dead letter of the session. */
    letterOf: (id: string): Promise<string> =>
      eventually(async () => {
        const letters = await system.all(topics.deadLetters);
        const last = letters.findLast(({ record }) => record.key === `session-of-${id}`);
        return last === undefined ? undefined : `${last.partition}/${last.offset}`;
      }),
    /** The command, as somebody runs it beside the services: with the log and the ledger opened once more. */
    command: (...args: string[]) => inProcess(deadLetters, runtime.environment, ...args),
  };
}

export type Dying = Awaited<ReturnType<typeof startDying>>;

/** Where a run can die, and what is out of order then. */
export const hops: readonly (readonly [where: string, topic: string, code: string, cut: (dying: Dying) => void])[] = [
  ['at its request', 'agent.requests', 'ledger_unreachable', ({ cutLedger }) => cutLedger('request/')],
  ['at the model', 'agent.toolsets', 'model_refused', ({ cutModel }) => cutModel()],
  ['before its calls', 'agent.tool-calls', 'ledger_unreachable', ({ cutLedger }) => cutLedger('turn/agent.tool-calls')],
  ['between two effects', 'agent.tool-calls', 'ledger_unreachable', ({ cutLedger }) => cutLedger('effect/hop-3/1/1/')],
  ['on its way back', 'agent.steps', 'ledger_unreachable', ({ cutLedger }) => cutLedger('turn/agent.steps')],
];
