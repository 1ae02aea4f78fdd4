import {
  agentName,
  channels,
  claimAt,
  claimsOf,
  claimValues,
  heldAfter,
  measuresOf,
  neededPastOf,
  pastFactName,
  modelsFor,
  spentBy,
} from '@sluice/core';
import type { Evaluator, JsonObject, Principal, RuleFacts, RunConditions, RunState } from '@sluice/core';
import type { AgentRequest } from '@sluice/contracts';

/** What is found out for a decision beside the request; part of `RunConditions`, where the decision keeps it. */
export type Measured = Pick<RunConditions, 'loads' | 'held'> & Partial<Pick<RunConditions, 'facts'>>;

/** How a request came, and the claims of its credential that rules name. */
export type Origin = Pick<RunConditions, 'channel' | 'claims'>;

/** Of a run whose origin was not kept, since the configuration had no rules then: rules about it close their tools. */
const unknownOrigin: Origin = { channel: '', claims: {} };

const nothingMeasured: Measured = { loads: {}, held: [] };

/**
 * The header of a request’s record that says how it came. Who may write to the topic may write it: it is no
 * credential.
 */
export const channelHeader = 'sluice-channel';

/** The header of a request’s record that says which provider’s wire it came by, where it came over HTTP. */
export const doorHeader = 'sluice-door';

const wireDoors: readonly (string | undefined)[] = ['openai-chat', 'openai-responses', 'anthropic'];

/** How a request came, as metrics have it: of few names, whatever its headers say. */
export function doorOf(headers: Readonly<Record<string, string>>, { channel }: Pick<Origin, 'channel'>): string {
  const door = headers[doorHeader];
  return channel === 'http' && door !== undefined && wireDoors.includes(door) ? door : channel;
}

/** How a request came, and of its credential’s claims those that rules name, absent ones as empty. */
export function originOf(
  headers: Readonly<Record<string, string>>,
  claims: JsonObject | undefined,
  { configuration }: Pick<Evaluator, 'configuration'>,
): Origin {
  const named = headers[channelHeader];
  const channel = channels.find((one) => one === named) ?? 'kafka';
  const values = claimsOf(configuration).map((name) => [name, claimValues(claimAt(claims ?? {}, name))] as const);
  return { channel, claims: Object.fromEntries(values) };
}

/** The run with what its next decision is judged by; as it is where the configuration has no rules. */
export function withConditions(
  run: RunState,
  { availability }: Pick<Evaluator, 'availability'>,
  { loads, held, facts = null }: Measured,
  origin?: Origin,
): RunState {
  if (!availability.hasRules) return run;
  const { channel, claims } = origin ?? run.conditions ?? unknownOrigin;
  const { succeeded = {}, approved = {} } = run.conditions ?? {};
  return { ...run, conditions: { channel, claims, loads, held, succeeded, approved, facts } };
}

/** What a recorded decision was given: from the run as the decision left it. */
export function recordedConditions({ conditions }: Pick<RunState, 'conditions'>): {
  readonly measured: Measured;
  readonly origin: Origin;
} {
  return { measured: conditions ?? nothingMeasured, origin: conditions ?? unknownOrigin };
}

type JudgedRun = Pick<RunState, 'conditions' | 'principal' | 'parent' | 'inputTokens' | 'outputTokens'>;

/** A request as it is before its run begins names no call. */
type JudgedRequest = Pick<AgentRequest, 'question'> & Partial<Pick<AgentRequest, 'call' | 'agent'>>;

/** Which agent calls in the run: empty where the request names the call itself. */
export function agentOf(
  {
    request,
    run: { parent },
  }: { readonly request: Partial<Pick<AgentRequest, 'call' | 'agent'>>; readonly run: Pick<RunState, 'parent'> },
  { byId }: Pick<Evaluator, 'byId'>,
): string {
  if ((request.call ?? null) !== null) return '';
  return parent === null ? agentName({ agent: request.agent ?? null }) : (byId(parent.tool)?.key ?? parent.tool);
}

/** What the rules are judged by at this instant, milliseconds since the epoch. */
export function ruleFactsOf(
  { request, run }: { readonly request: JudgedRequest; readonly run: JudgedRun },
  evaluator: Pick<Evaluator, 'byId' | 'configuration'>,
  at: number,
): RuleFacts {
  const { conditions, principal, parent } = run;
  const { agent } = (parent === null ? undefined : evaluator.byId(parent.tool)) ?? {};
  const { channel, claims } = conditions ?? unknownOrigin;
  return {
    at,
    tenant: principal?.tenantId ?? '',
    actor: principal?.actorId ?? '',
    agent: agentOf({ request, run }, evaluator),
    ...{ channel, claims },
    facts: conditions?.facts ?? {},
    question: request.question,
    loads: measuredLoads(conditions?.loads ?? {}),
    held: conditions?.held ?? [],
    succeeded: conditions?.succeeded ?? {},
    approved: conditions?.approved ?? {},
    // An agent’s own model has its own price.
    spent: spentBy(run, modelsFor(evaluator.configuration, agent)[0].price),
  };
}

/**
 * What the rules would be judged by for a request of this caller at the beginning of its run, milliseconds since the
 * epoch.
 */
export function beginningFacts(
  principal: Principal,
  question: string,
  origin: Origin,
  measured: Measured,
  evaluator: Pick<Evaluator, 'byId' | 'configuration'>,
  at: number,
): RuleFacts {
  const conditions = { facts: null, ...origin, ...measured, succeeded: {}, approved: {} };
  const run = { principal, conditions, parent: null, inputTokens: 0, outputTokens: 0 };
  return ruleFactsOf({ request: { question }, run }, evaluator, at);
}

/** The measured values as texts of a record: empty for one that could not be had. */
function recordedLoads(loads: RuleFacts['loads']): RunConditions['loads'] {
  return Object.fromEntries(Object.entries(loads).map(([name, value]) => [name, value === null ? '' : String(value)]));
}

function measuredLoads(loads: RunConditions['loads']): RuleFacts['loads'] {
  return Object.fromEntries(
    Object.entries(loads).map(([name, value]) => [name, value === '' ? null : Number(value)] as const),
  );
}

/** What was measured, with the rules that it closes, by those that were closed before. */
export function measuredFor(
  { configuration: { rules = [] } }: Pick<Evaluator, 'configuration'>,
  loads: RuleFacts['loads'],
  before: readonly string[],
): Measured {
  return { loads: recordedLoads(loads), held: heldAfter(rules, loads, before) };
}

/** What the rules ask for and the run’s records do not say, as a sentence; null if they say all of it. */
export function notRecorded(
  { conditions, toolCalls }: Pick<RunState, 'conditions' | 'toolCalls'>,
  { configuration }: Pick<Evaluator, 'configuration'>,
): string | null {
  const { rules = [] } = configuration;
  const asking = [...rules, ...(configuration.policy.approvalRules ?? [])];
  const measure = [...measuresOf(rules).keys()].find((name) => !Object.hasOwn(conditions?.loads ?? {}, name));
  if (measure !== undefined) return `The load “${measure}” was not measured.`;
  const claim = claimsOf(configuration).find((name) => !Object.hasOwn(conditions?.claims ?? {}, name));
  if (claim !== undefined) return `The claim “${claim}” was not recorded.`;
  const fact = neededPastOf(rules)
    .map(pastFactName)
    .find((name) => !Object.hasOwn(conditions?.facts ?? {}, name));
  if (fact !== undefined) return `What was called before (${fact}) was not recorded.`;
  if (conditions !== null) return null;
  const conditionsOn = rules.flatMap(({ when, unless }) => [when, unless]);
  if ([...conditionsOn, ...asking.map(({ whom }) => whom)].some((one) => one?.channels !== undefined))
    return 'How its request came was not recorded.';
  const isAboutPast = rules.some(
    ({ history }) => history !== undefined && history.after.length + history.whileApproved.length > 0,
  );
  return isAboutPast && Object.keys(toolCalls).length > 0 ? 'Which of its calls succeeded was not recorded.' : null;
}
