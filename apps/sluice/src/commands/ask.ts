import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { clockSkewMs, printable } from '@sluice/core';
import type { Bus, Incoming, LogReader } from '@sluice/bus';
import { GenuineEnds, suretyOf } from '@sluice/run';
import { longestId, recordToJson } from '@sluice/contracts';
import { answerSchemaProblem } from '@sluice/schemas';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import { openBus, openLogFile, verifierIfAny } from '@sluice/host';
import type { Environment } from '@sluice/host';
import { appliedConfiguration } from '../system/applied.js';
import { refuseOtherConfiguration } from '../system/other-configuration.js';
import { followRun, newRequest, pastRun, publishRequest } from '../run-request.js';
import { readText } from '../read-text.js';
import { readFiles, withFiles } from '../question-files.js';
import type { QuestionFile } from '../question-files.js';
import { configurationNow } from '../approvals/approval-log.js';
import { Elapsed } from '../show/elapsed.js';
import { RunStories } from '../show/run-stories.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice ask "question" [--group a,b] [--state s] [--tools a,b] [--tool-choice c] [--connections a,b]
           [--agent a] [--strategy s] [--answer-schema file] [--file path]… [--session id] [--request id]
           [--max-iterations n] [--json]
  Publishes an AgentRequest, shows the run and prints the answer; exit code 0 if there is one, 130 if it was stopped before the run's end.
  --json prints the run's end alone, as JSON. --max-iterations is how many there may be, if they are fewer than limits.max_iterations.
  Without --session the run is a session of its own, and without --state it begins in the state undefined.
  --request sets the request_id. If it was used before, that run is shown instead of starting one.
  Without --group the request's groups are absent (default); --group "" means no tools.
  --tools names the ids of the tools that the run may use, of those it would be offered; without it all of these.
  --tool-choice is auto (the model calls tools as it likes), none, required, or the key or id of the tool that it must call first.
  --agent is the agent of the configuration that is asked; without it default.
  --strategy is how the run comes to its answer: react, or another one where the configuration lets requests choose it
  (docs/strategies.md).
  --answer-schema names a file with a JSON Schema that the answer has to fit; the run's end has it as JSON, as structured.
  --file sends an image or a file along, once for each, 20 at most. Models that take images or PDF get them, others the text of
  files (docs/content.md). On Kafka this process needs the content store's settings as the services have them.
  Without --connections no tool may use one; "*" is all that you may use. SLUICE_TOKEN is sent along as the credential.
  If nothing is running on the data folder, the services run in this process until the answer is there: under SLUICE_CONFIG, else
  what is in force there, else the sample's configuration. If services run under another configuration than the one that
  SLUICE_CONFIG names, nothing is asked.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const question = await readArguments(args, surroundings.environment);
  return surroundings.environment.bus === 'kafka'
    ? askCluster(question, surroundings)
    : askEmbedded(question, surroundings);
}

async function askCluster(question: Asked, surroundings: CommandContext): Promise<number> {
  const { bus } = await openBus(surroundings.environment, surroundings.log);
  try {
    await refuseOtherConfiguration(bus, surroundings);
    return await publishAndFollow(bus, question, surroundings);
  } finally {
    await bus.close();
  }
}

async function askEmbedded(question: Asked, surroundings: CommandContext): Promise<number> {
  const { environment, log } = surroundings;
  const bus = await openLogFile(environment, log);
  let configFile = environment.configFile;
  try {
    if ((await bus.holderOf('filter')) !== null) {
      await refuseOtherConfiguration(bus, surroundings);
      return await publishAndFollow(bus, question, surroundings);
    }
    if (configFile === null && (await appliedConfiguration(bus, verifierIfAny(environment))) === null)
      configFile = await surroundings.sampleConfiguration();
  } finally {
    await bus.close();
  }
  // The services are loaded where they are started in this process; a run on a log that others serve needs none of
  // them.
  const { startEmbedded } = await import('../system/embedded.js');
  const system = await startEmbedded({ environment: { ...environment, port: 0 }, configFile, isRead: true });
  try {
    return await publishAndFollow(system.runtime.bus, question, surroundings);
  } finally {
    await system.close();
  }
}

interface Asked {
  readonly request: AgentRequest & { readonly requestId: string; readonly sessionId: string };
  readonly files: readonly QuestionFile[];
  /** Whether the caller chose the request's id, so that it may be on the log already. */
  readonly named: boolean;
  readonly json: boolean;
}

async function readArguments(args: readonly string[], environment: Environment): Promise<Asked> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      group: { type: 'string' },
      state: { type: 'string' },
      tools: { type: 'string' },
      'tool-choice': { type: 'string' },
      connections: { type: 'string' },
      agent: { type: 'string' },
      strategy: { type: 'string' },
      'answer-schema': { type: 'string' },
      file: { type: 'string', multiple: true, default: [] },
      session: { type: 'string' },
      request: { type: 'string' },
      'max-iterations': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [question, ...more] = positionals;
  if (question === undefined || more.length > 0) throw new Error(`Give one question, in quotes.\n${usage}`);
  if (values.request === '') throw new Error(`--request is empty; it must be an id, or be left out.\n${usage}`);
  for (const option of ['request', 'session'] as const)
    if ((values[option] ?? '').length > longestId)
      throw new Error(`--${option} has more than ${longestId} characters, which no id may have.\n${usage}`);
  const requestId = values.request ?? `ask-${randomUUID()}`;
  const iterations = values['max-iterations'];
  if (iterations !== undefined && !/^[1-9]\d{0,5}$/.test(iterations))
    throw new Error(`--max-iterations is "${iterations}"; it must be a whole number from 1.`);
  const schema = values['answer-schema'];
  const answerSchema = schema === undefined ? null : readText(schema);
  const problem =
    answerSchema === null ? null : answerSchemaProblem(answerSchema, `The file of --answer-schema, ${schema},`);
  if (problem !== null) throw new Error(problem);
  const list = (text: string | undefined): string[] | null => text?.split(',').filter((name) => name !== '') ?? null;
  return {
    request: {
      ...newRequest(question, { requestId, sessionId: values.session ?? requestId }),
      group: list(values.group),
      toolIds: list(values.tools),
      toolChoice: values['tool-choice'] ?? null,
      connections: list(values.connections),
      state: values.state ?? null,
      agent: values.agent ?? null,
      strategy: values.strategy ?? null,
      answerSchema,
      maxIterations: iterations === undefined ? null : Number(iterations),
    },
    files: await readFiles(values.file, environment),
    named: values.request !== undefined,
    json: values.json,
  };
}

async function publishAndFollow(
  bus: Bus,
  { request, files, named, json }: Asked,
  surroundings: CommandContext,
): Promise<number> {
  const { write, print, paint, environment } = surroundings;
  const signatures = verifierIfAny(environment);
  const inForce = json ? undefined : await configurationNow({ bus, signatures });
  const elapsed = new Elapsed({ ...surroundings, terminal: surroundings.terminal && !json });
  const story = new RunStories(json ? () => undefined : (text) => elapsed.write(text), paint, inForce ?? null);
  const tell = (message: Incoming, within: readonly string[]): void => {
    elapsed.take(message);
    story.tell(message, within);
  };
  const log = new GenuineEnds(bus, signatures, surroundings.log);
  const before = named ? await pastRun(log, request.requestId, tell) : null;
  const asking =
    before ?? askNow(bus, log, { request, files, named }, tell, surroundings).finally(() => elapsed.close());
  const response = await asking;
  const session = response?.sessionId ?? request.sessionId;
  if (!json) write(paint.dim(`\nSession ${printable(session)}   (npx sluice audit show ${printable(session)})\n`));
  if (before !== null && !json)
    write(paint.dim(`\nThe request ${request.requestId} was used before; this is its run.\n`));
  if (response === null) return 130;
  if (json) print(`${JSON.stringify(endJson(response, session))}\n`);
  return response.error === null ? 0 : 1;
}

function endJson(response: AgentResponse, session: string): object {
  const { requestId, kind, answer, structured, incomplete, error, state, iterations } = response;
  const whole = incomplete === null ? null : recordToJson('IncompleteAnswer', incomplete);
  const answered = { kind, answer, structured, incomplete: whole, ...suretyOf(response), error };
  return { request_id: requestId, session_id: session, ...answered, state, iterations };
}

async function askNow(
  bus: Bus,
  log: LogReader,
  { request, files, named }: Pick<Asked, 'request' | 'files' | 'named'>,
  tell: (message: Incoming, within: readonly string[]) => void,
  context: CommandContext,
): Promise<AgentResponse | null> {
  const { environment, stopped } = context;
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  // A request of that name may be on its way already; then this one is dropped, and the other's run is what there is
  // to follow.
  const since = named ? 0 : Date.now() - clockSkewMs;
  await publishRequest(bus, await withFiles(request, files, bus, context), environment);
  return followRun(log, request.requestId, since, tell, stop.signal);
}
