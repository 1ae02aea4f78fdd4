import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { clockSkewMs, nearest, printable } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { Models, OneCallModels } from '@sluice/model';
import type { AgentStep } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { openLogFile, ownToken } from '@sluice/service';
import type { OpenRuntime } from '@sluice/service';
import { appliedConfiguration } from '../system/applied.js';
import { startEmbedded } from '../system/embedded.js';
import { followRun, newRequest, publishRequest } from '../run-request.js';
import { Story } from '../show/story.js';
import type { Surroundings } from './surroundings.js';

export const usage = `sluice call TOOL ['{"argument":"value"}'] [--group a,b] [--state s] [--connections a,b] [--session id] [--json]
  Runs one tool without a model: for authors of tools. The call is a run like any other, on the log of the data folder: the filter decides
  whether the tool is offered, and the executor authorizes, asks for an approval, checks, runs, redacts and records the call. A turn of the
  run that would ask the model makes exactly this call, and then answers with its result. TOOL is a tool's key or id.
  The services run in this process until the call has ended, under SLUICE_CONFIG, else what is in force on the data folder, else the
  sample's configuration. --group, --state, --connections, --session and SLUICE_TOKEN are as for ask. --json prints the step alone.
  Exit code 0 if the tool succeeded, 130 if it was stopped before its end.`;

interface Wanted {
  readonly tool: string;
  readonly args: string;
  readonly groups: string[] | null;
  readonly connections: string[] | null;
  readonly state: string | null;
  readonly session: string | null;
  readonly json: boolean;
}

export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const wanted = readArguments(args);
  const { environment } = surroundings;
  if (environment.bus === 'kafka')
    throw new Error(
      'sluice call runs the services in this process, on an embedded log. Unset SLUICE_BUS, or ask the services on Kafka with `sluice ask`.',
    );
  const configFile = await configurationFor(surroundings);
  const question = `Call ${wanted.tool} with ${wanted.args}`;
  const models = new OneCallModels(new Models((variable) => environment.secret(variable)), question);
  const system = await startEmbedded({ environment: { ...environment, port: 0 }, configFile, models });
  try {
    const toolId = idOf(wanted.tool, system.runtime.configurations.current().configuration);
    models.call = { toolId, arguments: wanted.args };
    return await callAndFollow(question, wanted, system, surroundings);
  } finally {
    await system.close();
  }
}

/** Which configuration file the services follow; null for what is in force. Throws a sentence if services run on the data folder already. */
async function configurationFor(surroundings: Surroundings): Promise<string | null> {
  const { environment, log } = surroundings;
  const bus = await openLogFile(environment, log);
  try {
    const holder = await bus.holderOf('filter');
    if (holder !== null)
      throw new Error(
        `Services run on ${environment.dataFolder} (process ${holder.processId}), with a model of their own. Stop them first, or set SLUICE_DATA to another folder for the call.`,
      );
    if (environment.configFile !== null) return environment.configFile;
    return (await appliedConfiguration(bus)) === null ? await surroundings.sampleConfiguration() : null;
  } finally {
    await bus.close();
  }
}

async function callAndFollow(
  question: string,
  wanted: Wanted,
  { runtime, failed }: OpenRuntime,
  { environment, write, print, paint, stopped }: Surroundings,
): Promise<number> {
  const requestId = `call-${randomUUID()}`;
  const { groups: group, state, connections, json, session } = wanted;
  const ids = { requestId, sessionId: session ?? requestId };
  const request = { ...newRequest(question, ids), group, state, connections };
  const stop = new AbortController();
  void Promise.race([stopped, failed]).then(() => stop.abort());
  const story = new Story(json ? () => undefined : write, paint);
  let step: AgentStep | undefined;
  const onRecord = (message: Incoming): void => {
    story.tell(message);
    if (message.topic === 'agent.steps') step ??= message.record.steps[0];
  };
  const since = Date.now() - clockSkewMs;
  await publishRequest(runtime.bus, request, ownToken(environment));
  const response = await followRun(runtime.bus, requestId, since, onRecord, stop.signal);
  if (!json)
    write(paint.dim(`\nSession ${printable(ids.sessionId)}   (npx sluice audit show ${printable(ids.sessionId)})\n`));
  if (response === null) return 130;
  if (json) {
    const { action: tool, outcome, reason, observation, state: next } = step ?? noStep(wanted.tool);
    const error = response.error;
    print(
      `${JSON.stringify({ request_id: requestId, session_id: ids.sessionId, tool, outcome, reason, observation, state: next, error })}\n`,
    );
  }
  return step?.outcome === 'ok' ? 0 : 1;
}

function noStep(tool: string) {
  return { action: tool, outcome: null, reason: null, observation: null, state: null };
}

function idOf(name: string, { tools }: Configuration): string {
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
  };
}
