import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { clockSkewMs, nearest, printable } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import type { AgentStep } from '@sluice/contracts';
import type { Bus, Incoming } from '@sluice/bus';
import { configurationsOn, GenuineEnds, inForceOf, stepAtEnd } from '@sluice/run';
import { openBus, openLogFile, verifierIfAny } from '@sluice/host';
import { appliedConfiguration } from '../system/applied.js';
import { refuseOtherConfiguration } from '../system/other-configuration.js';
import { followRun, newRequest, publishRequest } from '../run-request.js';
import { configurationNow } from '../approvals/approval-log.js';
import { Elapsed } from '../show/elapsed.js';
import { RunStories } from '../show/run-stories.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice call TOOL ['{"argument":"value"}'] [--group a,b] [--state s] [--connections a,b] [--session id] [--json] [--dry-run]
  Runs one tool without a model: for authors of tools. The call is a run like any other, on the log, in one hop: the executor decides
  whether the tool is offered, authorizes, asks for an approval, checks, runs, redacts and records the call, and ends the run with its
  result as the answer. TOOL is a tool's key or id.
  Services that run are asked, on Kafka and on the data folder alike. Where none run on the data folder, they run in this process until
  the call has ended, under SLUICE_CONFIG, else what is in force there, else the sample's configuration. --group, --state, --connections,
  --session and SLUICE_TOKEN are as for ask. --json prints the step alone.
  --dry-run runs and publishes nothing: it says by the configuration whether the tool is offered, what is wrong with the arguments,
  whether the call would wait for an approval, and what would refuse it. Arguments of tools in files of your own are checked by their
  schemas. Where callers have an identity, it is that of one who may use what is named, and no authorizer is asked.
  Exit code 0 if the tool succeeded, or would not be refused in a dry run, 130 if it was stopped before its end.`;

interface Wanted {
  readonly tool: string;
  readonly args: string;
  readonly groups: string[] | null;
  readonly connections: string[] | null;
  readonly state: string | null;
  readonly session: string | null;
  readonly json: boolean;
  readonly dryRun: boolean;
}

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const wanted = readArguments(args);
  return surroundings.environment.bus === 'kafka'
    ? callOnCluster(wanted, surroundings)
    : callOnDataFolder(wanted, surroundings);
}

async function callOnCluster(wanted: Wanted, surroundings: CommandContext): Promise<number> {
  const { bus } = await openBus(surroundings.environment, surroundings.log);
  try {
    return await callServices(wanted, bus, surroundings);
  } finally {
    await bus.close();
  }
}

async function callOnDataFolder(wanted: Wanted, surroundings: CommandContext): Promise<number> {
  const { environment, log } = surroundings;
  const bus = await openLogFile(environment, log);
  let configFile = environment.configFile;
  let applied: Configuration | null = null;
  try {
    if ((await bus.holderOf('filter')) !== null) return await callServices(wanted, bus, surroundings);
    if (configFile === null) applied = (await appliedConfiguration(bus, verifierIfAny(environment)))?.read() ?? null;
    if (configFile === null && applied === null) configFile = await surroundings.sampleConfiguration();
  } finally {
    await bus.close();
  }
  if (wanted.dryRun) {
    const { configurationOf } = await import('../system/compile-once.js');
    const configuration = configFile === null ? applied : await configurationOf(configFile, surroundings);
    if (configuration !== null) return tryDry(wanted, configuration, surroundings);
  }
  // The services are loaded where they are started in this process; a run on a log that others serve needs none of
  // them.
  const { startEmbedded } = await import('../system/embedded.js');
  const { runtime, failed, close } = await startEmbedded({ environment: { ...environment, port: 0 }, configFile });
  try {
    const { configuration } = runtime.configurations.current();
    return await callAndFollow(idOf(wanted.tool, configuration), wanted, { bus: runtime.bus, failed }, surroundings);
  } finally {
    await close();
  }
}

/** By the services that run, under the configuration in force. */
async function callServices(wanted: Wanted, bus: Bus, surroundings: CommandContext): Promise<number> {
  await refuseOtherConfiguration(bus, surroundings);
  const inForce = inForceOf(await configurationsOn(bus, verifierIfAny(surroundings.environment)));
  if (inForce === undefined)
    throw new Error('No configuration is in force. Put one in force with `sluice config apply FILE`.');
  const configuration = inForce.read();
  if (wanted.dryRun) return tryDry(wanted, configuration, surroundings);
  return callAndFollow(idOf(wanted.tool, configuration), wanted, { bus }, surroundings);
}

async function callAndFollow(
  toolId: string,
  wanted: Wanted,
  { bus, failed }: { readonly bus: Bus; readonly failed?: Promise<unknown> },
  surroundings: CommandContext,
): Promise<number> {
  const { environment, log, write, print, paint, stopped } = surroundings;
  const { json } = wanted;
  const request = requestFor(toolId, wanted);
  const { requestId, ...ids } = request;
  const stop = new AbortController();
  void Promise.race(failed === undefined ? [stopped] : [stopped, failed]).then(() => stop.abort());
  const signatures = verifierIfAny(environment);
  const inForce = json ? undefined : await configurationNow({ bus, signatures });
  const elapsed = new Elapsed({ ...surroundings, terminal: surroundings.terminal && !json });
  const story = new RunStories(json ? () => undefined : (text) => elapsed.write(text), paint, inForce ?? null);
  let step: AgentStep | undefined;
  const onRecord = (message: Incoming, within: readonly string[]): void => {
    elapsed.take(message);
    story.tell(message, within);
    if (message.topic === 'agent.steps' && within.length === 0) step ??= message.record.steps[0];
  };
  const since = Date.now() - clockSkewMs;
  await publishRequest(bus, request, environment);
  const genuine = new GenuineEnds(bus, signatures, log);
  const followed = followRun(genuine, requestId, since, onRecord, stop.signal);
  const response = await followed.finally(() => elapsed.close());
  if (!json)
    write(paint.dim(`\nSession ${printable(ids.sessionId)}   (npx sluice audit show ${printable(ids.sessionId)})\n`));
  if (response === null) return 130;
  step ??= stepAtEnd(response);
  if (json) {
    const { action: tool, outcome, reason, observation, state: next } = step ?? noStep(wanted.tool);
    const error = response.error;
    print(
      `${JSON.stringify({ request_id: requestId, session_id: ids.sessionId, tool, outcome, reason, observation, state: next, error })}\n`,
    );
  }
  return step?.outcome === 'ok' ? 0 : 1;
}

/** Says what the call would come to; no part of it is made. */
async function tryDry(wanted: Wanted, configuration: Configuration, { print, write, paint }: CommandContext) {
  // Tools are loaded for a dry run alone: a call leaves them to the services.
  const { dryCall, dryCallInWords } = await import('../dry-call.js');
  const request = requestFor(idOf(wanted.tool, configuration), wanted);
  const tried = await dryCall(request, configuration, Date.now());
  if (wanted.json) print(`${JSON.stringify(tried)}\n`);
  else write(dryCallInWords(tried, paint));
  return tried.outcome === 'refused' ? 1 : 0;
}

function requestFor(toolId: string, { tool, args, groups: group, state, connections, session }: Wanted) {
  const requestId = `call-${randomUUID()}`;
  const call = { tool: toolId, arguments: args, order: null };
  const ids = { requestId, sessionId: session ?? requestId };
  return { ...newRequest(`Call ${tool} with ${args}`, ids), call, group, state, connections };
}

function noStep(tool: string) {
  return { action: tool, outcome: null, reason: null, observation: null, state: null };
}

function idOf(name: string, { tools }: Pick<Configuration, 'tools'>): string {
  const tool = tools.find(({ key }) => key === name) ?? tools.find(({ id }) => id === name);
  if (tool !== undefined) return tool.id;
  const near = nearest(
    name,
    tools.map(({ key }) => key),
  );
  const hint = near === undefined ? `There are: ${tools.map(({ key }) => key).join(', ')}.` : `Did you mean ${near}?`;
  throw new Error(`The configuration has no tool ${JSON.stringify(name)}. ${hint}`);
}

function readArguments(args: readonly string[]): Wanted {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      group: { type: 'string' },
      state: { type: 'string' },
      connections: { type: 'string' },
      session: { type: 'string' },
      json: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  const [tool, given = '{}', ...more] = positionals;
  if (tool === undefined || more.length > 0)
    throw new Error(`Name one tool, and give its arguments as one JSON text in single quotes.\n${usage}`);
  const list = (text: string | undefined): string[] | null => text?.split(',').filter((name) => name !== '') ?? null;
  return {
    tool,
    args: given,
    groups: list(values.group),
    connections: list(values.connections),
    state: values.state ?? null,
    session: values.session ?? null,
    json: values.json,
    dryRun: values['dry-run'],
  };
}
