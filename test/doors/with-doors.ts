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

const ofClient = "client_tools: ['get_*', 'send'], client_effects: { 'get_*': read_only }";

function agents(named: readonly string[]): string {
  const own = ["support: { instructions: 'Help.' }", "ours: { may_ask: { principals: ['user:boss'] } }"];
  const all = [`default: { ${ofClient} }`, ...own, ...named.map((name) => `${name}: { ${ofClient} }`)];
  return `agents: { ${all.join(', ')} }`;
}

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
  'What is the weather in San Francisco?': () => [
    { calls: [clientCall('get_weather', { location: 'San Francisco' })] },
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

/**
 * All services and a gateway, with a model that answers by the question, and one tool that needs an approval; `named`:
 * further agents.
 */
export async function startDoors(
  variables: Readonly<Record<string, string>> = {},
  limits = '',
  slow: Promise<unknown> = Promise.resolve(),
  named: readonly string[] = [],
): Promise<DoorSystem> {
  const model = new ScriptedModel(async (request, signal) => {
    if (request.question === 'Wait') await Promise.race([slow, aborted(signal)]);
    if (request.question === 'Fail') throw new Error('The model is away.');
    const turns = script[request.question]?.() ?? [{ answer: 'Hello there.' }];
    return inOrder(...turns)(request);
  });
  const all = agents(named);
  const configuration = configured(anyone, {
    limits: `${limits.includes('model:') ? all.replace('agents: {', sorting) : all}
${limits}`,
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
