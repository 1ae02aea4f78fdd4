import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import {
  agentName,
  allowedConnections,
  bindTools,
  chooseTools,
  compileEvaluator,
  dependsOn,
  evaluatorFor,
  explain,
  fullTools,
  groupsForAgent,
  hasAgent,
  localPrincipal,
  noCalls,
  quote,
  suggestion,
  toolChoiceOf,
  unloadedGroups,
  wildcard,
  withoutFacts,
} from '@sluice/core';
import type { BindingFacts, CallCounts, Configuration, Decision, Evaluator, Facts, Unknown } from '@sluice/core';
import { recordFromJson, wireFields } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import { fallbacksFor, withFallbacks } from '@sluice/run';
import { configurationOf } from '../system/compile-once.js';
import { outsideFacts, outsideRuns } from '../system/outside-runs.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice explain [--config FILE] [--calls TOOL=N,TOOL=N] [--agent NAME]
    [--nested] [--depth N] [--json]
  Reads one AgentRequest a line as JSON on standard input and prints the decision for its first turn, one a line as
  JSON: which tools are eligible, permitted and offered, which rules close some (closed), bound their arguments
  (bounded) or count their calls within a span, and up to what (counted), which are hidden and why, and what a
  tool_choice comes to, or why it is refused. Without --config the file is that of SLUICE_CONFIG. Rules
  are judged at the present time; what they ask for and a line does not say is in depends_on.
  Where callers have an identity, it is that of one who may use the groups and connections that are named, and the
  groups that stand in for these (group_fallbacks), which are then in fallback_groups. --calls: so many calls of
  each tool, by its id or key, were made before, as budgets count them. --agent: of lines without \`agent\`
  the agent that is asked, by whose groups, limits and budgets it is then. --nested: the run answers the call of an
  agent; --depth: it is within so many calls of agents. Where descriptions are deferred, deferred has the tools that the model is sent
  short, before tool discovery, and deferred_groups those that come with load_toolset. A line that is no request
  gives {"error": …} in its place, and exit code 1 at the end.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string' },
      calls: { type: 'string' },
      nested: { type: 'boolean', default: false },
      depth: { type: 'string' },
      agent: { type: 'string' },
      // All that it prints is JSON.
      json: { type: 'boolean', default: false },
    },
  });
  const config = values.config ?? surroundings.environment.configFile;
  if (config === undefined || config === null)
    throw new Error(`Name the configuration with --config FILE or SLUICE_CONFIG.\n${usage}`);
  const configuration = await configurationOf(config, surroundings);

  const evaluator = compileEvaluator(configuration);
  const before = { calls: callsIn(values.calls, evaluator), depth: depthIn(values) };
  const agent = values.agent ?? null;
  const { print, taken } = surroundings;
  let code = 0;
  for await (const line of createInterface({ input: surroundings.input })) {
    if (line.trim() === '') continue;
    const said = decide(line, evaluator, agent, before);
    if ('error' in said) code = 1;
    print(`${JSON.stringify(said)}\n`);
    await taken();
  }
  return code;
}

function decide(
  line: string,
  whole: Evaluator,
  byDefault: string | null,
  before: Pick<Facts, 'calls' | 'depth'>,
): object {
  try {
    // A decision depends on the question by rules alone, so it may be left out here.
    const request = recordFromJson('AgentRequest', withQuestion(JSON.parse(line))) as AgentRequest;
    const { state, toolIds, toolChoice } = request;
    const agent = request.agent ?? byDefault;
    const evaluator = evaluatorFor(whole, { ...request, agent });
    const groups = groupsIn(request, agent, whole.configuration);
    const connections = connectionsOf(request, evaluator.configuration);
    const unknown = [
      ...outsideRuns(evaluator.configuration),
      ...(request.question === '' ? ['question' as const] : []),
    ];
    const rules = outsideFacts(request.question, evaluator, Date.now());
    const facts = { groups, state, toolIds, connections, rules, ...before };
    const known = withoutFacts(evaluator, unknown);
    const standIns = fallbacksFor(facts, known.evaluate(facts), known, [wildcard]);
    const all = standIns.length === 0 ? facts : withFallbacks(facts, standIns);
    const decision = known.evaluate(all);
    return {
      ...explain(known, all, toolChoice),
      ...(standIns.length === 0 ? {} : { fallback_groups: standIns }),
      ...undecided(decision, evaluator, unknown),
      ...described(decision, request, evaluator),
    };
  } catch (error) {
    return { error: `This line is no AgentRequest: ${(error as Error).message}` };
  }
}

function depthIn({
  nested,
  depth = nested ? '1' : '0',
}: {
  readonly nested: boolean;
  readonly depth?: string;
}): number {
  if (!/^\d$/.test(depth)) throw new Error(`--depth takes a whole number of calls, up to 9, and not “${depth}”.`);
  return Number(depth);
}

/** Calls that were made before, by the tools' ids. Throws a sentence where one is no tool or no number. */
function callsIn(written: string | undefined, evaluator: Evaluator): CallCounts {
  if (written === undefined) return noCalls;
  const counts = written.split(',').map((one): [string, number] => {
    const [, name = '', count = ''] = /^(.+)=(\d{1,6})$/.exec(one.trim()) ?? [];
    const tool = evaluator.tool(name);
    if (name === '') throw new Error(`--calls takes TOOL=N, and not “${one}”.`);
    if (tool === undefined) throw new Error(`--calls names “${name}”, which the configuration does not have.`);
    return [tool.id, Number(count)];
  });
  return Object.fromEntries(counts);
}

/** The groups of the request as its agent leaves them. Throws a sentence where there is no such agent. */
function groupsIn(
  { group, call }: Pick<AgentRequest, 'group' | 'call'>,
  agent: string | null,
  { agents = {}, groupTree }: Pick<Configuration, 'agents' | 'groupTree'>,
): readonly string[] | null {
  const name = agentName({ agent });
  if (!hasAgent(agents, name))
    throw new Error(`there is no agent ${quote(name)}; write ${suggestion(name, Object.keys(agents))}.`);
  const own = call === null && Object.hasOwn(agents, name) ? agents[name]?.groups : undefined;
  return groupsForAgent(group, own, [wildcard], groupTree);
}

/** For each tool that would be offered by what is known here: what rules about it ask for beside that. */
function undecided({ offered }: Decision, evaluator: Evaluator, unknown: Unknown): object {
  const open = offered.map(({ id, key }) => [key, dependsOn(evaluator, id, unknown)] as const);
  const those = open.filter(([, names]) => names.length > 0);
  return those.length === 0 ? {} : { depends_on: Object.fromEntries(those) };
}

/**
 * Which of the offered tools the model is sent short, and which not before it loads their group; nothing where
 * descriptions are not configured.
 */
function described(
  decision: Decision,
  { history, toolChoice }: Pick<AgentRequest, 'history' | 'toolChoice'>,
  evaluator: Evaluator,
): object {
  if (evaluator.configuration.descriptions === undefined) return {};
  const verdict = chooseTools(toolChoice, 1, decision.offered);
  if (!verdict.ok) return {};
  const facts: BindingFacts = { evaluator, history, toolChoice: toolChoiceOf(verdict.choice) };
  const offered = fullTools(decision);
  const keys = (ids: readonly string[]): readonly string[] => ids.map((id) => evaluator.byId(id)?.key ?? id);
  const groups = [...unloadedGroups(offered, facts)].map(([group, ids]) => [group, keys(ids)] as const);
  return { deferred: keys(bindTools(offered, facts).deferred), deferred_groups: Object.fromEntries(groups) };
}

/**
 * Whose request it is, is not known here: without an identity everybody's are the same, else its sender may use what
 * it names.
 */
function connectionsOf(
  { connections: requested }: Pick<AgentRequest, 'connections'>,
  { connections, identity }: Pick<Configuration, 'connections' | 'identity'>,
): readonly string[] {
  const open =
    identity.provider === 'none' ? connections : connections?.map((one) => ({ ...one, tenants: [wildcard] }));
  return allowedConnections(open, localPrincipal, requested);
}

/** Throws for a field that no request has: what it was meant to say would be left out of the decision. */
function withQuestion(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const known = wireFields('AgentRequest');
  const other = Object.keys(value).find((key) => !known.includes(key));
  if (other !== undefined) throw new Error(`the field ${quote(other)} is unknown; write ${suggestion(other, known)}.`);
  return { question: '', ...value };
}
