import { readEnvironment } from '@sluice/host';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { anyone, configured } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { Said, TestSystem } from '../harness/system.js';

/** The smallest picture there is. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

type Script = Readonly<Record<string, () => readonly Said[]>>;

const agents =
  "agents: { default: { client_tools: ['get_*', 'send'], client_effects: { 'get_*': read_only } }, support: { instructions: 'Help.' }, ours: { may_ask: { principals: ['user:boss'] } } }";

/** With a model that can answer by a schema, an agent that does. */
const sorting = 'agents: { sorts: { answer_schema: { type: object, required: [n] } },';

/** A call of a tool that the client runs. */
const clientCall = (name: string, args: Readonly<Record<string, unknown>> = { city: 'Bern' }) =>
  [`client__${name}`, JSON.stringify(args)] as const;

/** Turns by the question. */
const script: Script = {
  Look: () => [{ thought: 'I look.', calls: [calls.query] }, { answer: 'Found.' }],
  Number: () => [{ thought: 'I look.', calls: [calls.query] }, { answer: '```json\n{"n": 1}\n```' }],
  Weather: () => [
    { thought: 'I look.', calls: [clientCall('get_weather'), calls.query, clientCall('get_time')] },
    { calls: [clientCall('get_weather')] },
    { answer: 'It snows.' },
  ],
  Reset: () => [{ calls: [calls.analysis] }, { calls: [calls.reset] }, { answer: 'Reset.' }],
  Cut: () => [{ answer: 'Half', incomplete: { reason: 'length', finishReason: 'length' } }],
};

export interface DoorSystem {
  readonly system: TestSystem;
  readonly gateway: Gateway;
  readonly model: ScriptedModel;
  close(): Promise<void>;
}

/** All services and a gateway, with a model that answers by the question, and one tool that needs an approval. */
export async function startDoors(
  variables: Readonly<Record<string, string>> = {},
  limits = '',
  slow: Promise<unknown> = Promise.resolve(),
): Promise<DoorSystem> {
  const model = new ScriptedModel(async (request, signal) => {
    if (request.question === 'Wait') await Promise.race([slow, aborted(signal)]);
    if (request.question === 'Fail') throw new Error('The model is away.');
    const turns = script[request.question]?.() ?? [{ answer: 'Hello there.' }];
    return inOrder(...turns)(request);
  });
  const configuration = configured(anyone, {
    limits: `${limits.includes('model:') ? agents.replace('agents: {', sorting) : agents}\n${limits}`,
  });
  const system = await startSystem(configuration, model, undefined, { http: readEnvironment(variables).http });
  const gateway = await startGateway(system.embedded.runtime);
  return {
    ...{ system, gateway, model },
    close: async () => {
      await gateway.close();
      await system.close();
    },
  };
}

/** Rejects once the turn is aborted. */
function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
}
