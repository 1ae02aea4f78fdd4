import { parseArgs } from 'node:util';
import { compileEvaluator } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { isTopic, storyTopics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { openArchive } from '@sluice/archive';
import { replay, toolNames, whatIf } from '@sluice/replay';
import type { DecisionSelection, Offsets } from '@sluice/replay';
import { openBus, recordedKeys, requireLog } from '@sluice/host';
import { readRange } from '../read-words.js';
import { sessionNamed } from '../session-named.js';
import { authorizerOf } from '../replay/authorizer-of.js';
import { threadsFor } from '../replay/threads.js';
import { verifierFor } from '../replay/verifier-for.js';
import { Comparison } from '../show/comparison.js';
import { Prospect } from '../show/prospect.js';
import { configurationOf } from '../system/compile-once.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice replay [--from time] [--to time] [--offsets agent.toolsets/0/17-42] [--session id] [--tenant id] [--tool name]
             [--export FILE] [--config FILE] [--json]
  Decides everything once more from its recorded inputs and compares to the byte; exit code 1 on differences, and if there is
  nothing to decide. Runs no tool, asks no model. --export reads a file of sluice export instead of the log. --config says instead which
  decisions would be otherwise under that configuration, which is no failure. --tool is a tool's key or id. A time is ISO 8601 or
  milliseconds since the epoch; --to is not included. --json prints a line for each that is not equal, and the counts at the end.
  A unique beginning of a session’s id is enough.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      offsets: { type: 'string' },
      session: { type: 'string' },
      tenant: { type: 'string' },
      tool: { type: 'string' },
      export: { type: 'string' },
      config: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const narrowed = {
    ...readRange(values),
    offsets: values.offsets === undefined ? null : readOffsets(values.offsets),
    tenant: values.tenant ?? null,
  };
  const candidate = values.config === undefined ? null : await compiled(values.config, surroundings);
  const stop = new AbortController();
  void surroundings.stopped.then(() => stop.abort());
  const { reader, close } = await open(values.export, surroundings, stop.signal);
  try {
    const tool = values.tool === undefined ? null : await toolNames(reader, values.tool, stop.signal);
    const { signal } = stop;
    const session = values.session === undefined ? null : await sessionNamed(reader, values.session, { signal });
    const selection = { ...narrowed, session, tool };
    const given = { reader, selection, json: values.json, fromFile: values.export !== undefined, signal: stop.signal };
    const code = await (candidate === null ? compare(given, surroundings) : consider(given, candidate, surroundings));
    if (stop.signal.aborted) throw new Error('Stopped before everything was replayed.');
    return code;
  } finally {
    await close();
  }
}

interface Given {
  readonly reader: LogReader;
  readonly selection: DecisionSelection;
  readonly json: boolean;
  readonly fromFile: boolean;
  readonly signal: AbortSignal;
}

async function compare(given: Given, surroundings: CommandContext): Promise<number> {
  const { reader, selection, json, fromFile, signal } = given;
  const keys = recordedKeys(surroundings.environment);
  const comparison = new Comparison(json, keys !== null, surroundings);
  const { onUndecodable } = comparison;
  const verifier = verifierFor({ keys, readsUnknown: fromFile });
  const options = {
    selection,
    verifier,
    authorizerOf,
    signal,
    onUndecodable,
    threads: threadsFor({ keys, readsUnknown: fromFile }),
  };
  for await (const replayed of replay(reader, options)) {
    comparison.add(replayed);
    await surroundings.taken();
  }
  return comparison.end();
}

async function consider(given: Given, candidate: Configuration, surroundings: CommandContext): Promise<number> {
  const { reader, selection, json, fromFile, signal } = given;
  const keys = recordedKeys(surroundings.environment);
  const prospect = new Prospect(json, candidate.version, surroundings);
  const { onUndecodable } = prospect;
  const options = {
    candidate: compileEvaluator(candidate),
    verifier: verifierFor({ keys, readsUnknown: fromFile }),
    selection,
    authorizerOf,
    signal,
    onUndecodable,
    threads: threadsFor({ keys: null, readsUnknown: fromFile }),
  };
  for await (const reconsidered of whatIf(reader, options)) {
    prospect.add(reconsidered);
    await surroundings.taken();
  }
  return prospect.end();
}

async function open(
  file: string | undefined,
  { environment, log }: CommandContext,
  signal: AbortSignal,
): Promise<{ readonly reader: LogReader; close(): Promise<void> }> {
  if (file !== undefined) return { reader: await openArchive(file), close: () => Promise.resolve() };
  requireLog(environment);
  const { bus } = await openBus(environment, log, signal);
  return { reader: bus, close: () => bus.close() };
}

async function compiled(file: string, surroundings: CommandContext): Promise<Configuration> {
  const configuration = await configurationOf(file, surroundings);
  const allowed = new Set(configuration.policy.allowedTools);
  const missing = configuration.tools.filter(({ id, unavailable }) => allowed.has(id) && unavailable !== null);
  if (missing.length === 0) return configuration;
  // Each of its calls would seem to be refused by the change.
  throw new Error(
    [
      `What would be otherwise under ${file} cannot be said, since tools that it allows are not there now:`,
      ...missing.map(({ key, unavailable }) => `${key}: ${String(unavailable)}`),
      'Ask where they can be reached, or take them out of policy.allowed_tools to see what would be without them.',
    ].join('\n'),
  );
}

function readOffsets(text: string): Offsets {
  const [, topic = '', partition, from, to] = /^([^/]+)\/(\d+)\/(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (!isTopic(topic)) {
    throw new Error(
      `--offsets is "${text}"; it must be a topic, a partition and offsets, such as agent.toolsets/0/17-42.`,
    );
  }
  if (!(storyTopics as readonly Topic[]).includes(topic))
    throw new Error(`--offsets names ${topic}, which holds no decisions. ${storyTopics.join(', ')} do.`);
  const offsets = { topic, partition: Number(partition), from: Number(from), to: Number(to ?? from) };
  if (offsets.to < offsets.from) throw new Error(`--offsets is "${text}"; its last offset is before its first.`);
  return offsets;
}
