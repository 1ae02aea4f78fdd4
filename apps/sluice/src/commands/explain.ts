import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import {
  allowedConnections,
  compileEvaluator,
  explain,
  formatProblems,
  localPrincipal,
  noCalls,
  wildcard,
} from '@sluice/core';
import type { Configuration, Evaluator } from '@sluice/core';
import { recordFromJson } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { compileForCommand } from '../system/compile-once.js';
import type { Surroundings } from './surroundings.js';

export const usage = `sluice explain --config FILE
  Reads one AgentRequest a line as JSON on standard input and prints the decision for its first turn, one a line as
  JSON: which tools are eligible and permitted, which are hidden and why, and what a tool_choice comes to, or why
  it is refused. Where callers have an identity, it is that of one who may use the groups and connections that are
  named. A line that is no request gives {"error": …} in its place, and exit code 1 at the end.`;

export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { config: { type: 'string' } } });
  if (values.config === undefined) throw new Error(`Name the configuration.\n${usage}`);
  const { configuration, problems } = await compileForCommand(values.config, surroundings);
  if (configuration === null)
    throw new Error(`The configuration ${values.config} has mistakes:\n${formatProblems(problems)}`);

  const evaluator = compileEvaluator(configuration);
  const { print, taken } = surroundings;
  let code = 0;
  for await (const line of createInterface({ input: surroundings.input })) {
    if (line.trim() === '') continue;
    const said = decide(line, evaluator);
    if ('error' in said) code = 1;
    print(`${JSON.stringify(said)}\n`);
    await taken();
  }
  return code;
}

function decide(line: string, evaluator: Evaluator): object {
  try {
    // A decision does not depend on the question, so it may be left out here.
    const request = recordFromJson('AgentRequest', withQuestion(JSON.parse(line))) as AgentRequest;
    const { group: groups, state, toolIds, toolChoice } = request;
    const connections = connectionsOf(request, evaluator.configuration);
    const facts = { groups, state, toolIds, calls: noCalls, connections };
    return explain(evaluator, facts, toolChoice);
  } catch (error) {
    return { error: `This line is no AgentRequest: ${(error as Error).message}` };
  }
}

/** Whose request it is, is not known here: without an identity everybody's are the same, else its sender may use what it names. */
function connectionsOf(
  { connections: requested }: Pick<AgentRequest, 'connections'>,
  { connections, identity }: Pick<Configuration, 'connections' | 'identity'>,
): readonly string[] {
  const open =
    identity.provider === 'none' ? connections : connections?.map((one) => ({ ...one, tenants: [wildcard] }));
  return allowedConnections(open, localPrincipal, requested);
}

function withQuestion(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { question: '', ...value } : value;
}
