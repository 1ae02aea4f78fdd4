import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Bus } from '@sluice/bus';
import type { AgentRequest } from '@sluice/contracts';
import { openBus, openLogFile, ownToken } from '@sluice/service';
import { appliedConfiguration } from '../system/applied.js';
import { startEmbedded } from '../system/embedded.js';
import { followRun, newRequest, publishRequest } from '../run-request.js';
import { Story } from '../show/story.js';
import type { Surroundings } from './surroundings.js';

export const usage = `sluice ask "question" [--group a,b] [--state s] [--connections a,b] [--session id] [--request id] [--max-iterations n] [--json]
  Publishes an AgentRequest, shows the run and prints the answer; exit code 0 if there is one.
  Without --group the request's groups are absent (default); --group "" means no tools.
  --tools names the ids of the tools that the run may use, of those it would be offered; without it all of these.
  Without --connections no tool may use one; "*" is all that you may use. SLUICE_TOKEN is sent along as the credential.
  If nothing is running on the data folder, the services run in this process until the answer is there: under SLUICE_CONFIG, else
  what is in force there, else the sample's configuration.`;

export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { request, json } = readArguments(args);
  const { environment } = surroundings;
  return environment.bus === 'kafka'
    ? askCluster(request, json, surroundings)
    : askEmbedded(request, json, surroundings);
}

async function askCluster(request: Asked, json: boolean, surroundings: Surroundings): Promise<number> {
  const { bus } = await openBus(surroundings.environment, surroundings.log);
  try {
    return await publishAndFollow(bus, request, json, surroundings);
  } finally {
    await bus.close();
  }
}

async function askEmbedded(request: Asked, json: boolean, surroundings: Surroundings): Promise<number> {
  const { environment, log } = surroundings;
  const bus = await openLogFile(environment, log);
  let configFile = environment.configFile;
  try {
    if ((await bus.holderOf('filter')) !== null) return await publishAndFollow(bus, request, json, surroundings);
    if (configFile === null && (await appliedConfiguration(bus)) === null)
      configFile = await surroundings.sampleConfiguration();
  } finally {
    await bus.close();
  }
  const system = await startEmbedded({ environment: { ...environment, port: 0 }, configFile });
  try {
    return await publishAndFollow(system.runtime.bus, request, json, surroundings);
  } finally {
    await system.close();
  }
}

type Asked = AgentRequest & { readonly requestId: string; readonly sessionId: string };

function readArguments(args: readonly string[]): { request: Asked; json: boolean } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      group: { type: 'string' },
      state: { type: 'string' },
      tools: { type: 'string' },
      connections: { type: 'string' },
      session: { type: 'string' },
      request: { type: 'string' },
      'max-iterations': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [question, ...more] = positionals;
  if (question === undefined || more.length > 0) throw new Error(`Give one question, in quotes.\n${usage}`);
  const requestId = values.request ?? `ask-${randomUUID()}`;
  const iterations = values['max-iterations'];
  if (iterations !== undefined && !/^[1-9]\d{0,5}$/.test(iterations))
    throw new Error(`--max-iterations is "${iterations}"; it must be a whole number from 1.`);
  const list = (text: string | undefined): string[] | null => text?.split(',').filter((name) => name !== '') ?? null;
  return {
    request: {
      ...newRequest(question, { requestId, sessionId: values.session ?? requestId }),
      group: list(values.group),
      toolIds: list(values.tools),
      connections: list(values.connections),
      state: values.state ?? null,
      maxIterations: iterations === undefined ? null : Number(iterations),
    },
    json: values.json,
  };
}

async function publishAndFollow(bus: Bus, request: Asked, json: boolean, surroundings: Surroundings): Promise<number> {
  const { write, paint, stopped } = surroundings;
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  const story = new Story(json ? () => undefined : write, paint);
  const since = Date.now() - 1_000;
  await publishRequest(bus, request, ownToken(surroundings.environment));
  const response = await followRun(bus, request.requestId, since, (message) => story.tell(message), stop.signal);
  if (response === null) return 130;
  if (json)
    write(
      `${JSON.stringify({ request_id: response.requestId, kind: response.kind, answer: response.answer, error: response.error, state: response.state, iterations: response.iterations })}\n`,
    );
  return response.error === null ? 0 : 1;
}
