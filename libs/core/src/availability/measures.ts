import { claimsInAddress } from '../bounds/list-address.js';
import type { ArgumentBounds, Lists } from '../bounds/types.js';
import type { Configuration } from '../settings/configuration.js';
import { measureName } from './load.js';
import type { AvailabilityRule } from './types.js';

/**
 * What has to be measured for the rules, by the name on the records; the value is the query for Prometheus, null for
 * Sluice’s own measures.
 */
export function measuresOf(rules: readonly AvailabilityRule[]): ReadonlyMap<string, string | null> {
  const measures = new Map<string, string | null>();
  for (const { load } of rules) {
    if (load === undefined || load.measure === 'run_budget_left') continue;
    measures.set(measureName(load.measure), typeof load.measure === 'string' ? null : load.measure.prometheus);
  }
  return measures;
}

type Naming = Pick<Configuration, 'rules' | 'tools' | 'agentArguments' | 'lists'> &
  Partial<Pick<Configuration, 'authorization' | 'agents'>> & {
    readonly policy?: Pick<Configuration['policy'], 'approvalRules'>;
  };

/** Names of the claims that the authorizer looks at: those that its schema declares. */
export function authorizerClaims({
  authorization = null,
}: Partial<Pick<Configuration, 'authorization'>>): readonly string[] {
  return authorization?.kind === 'cedar' ? (authorization.claims ?? []) : [];
}

/** Names of the claims that rules, bounds and the authorizer ask for: only these go onto the records. */
export function claimsOf(naming: Naming): readonly string[] {
  const { rules = [], tools, agentArguments = {}, agents = {}, lists = {}, authorization = null, policy = {} } = naming;
  const { approvalRules = [] } = policy;
  const bounds = [
    ...rules.map((rule) => rule.arguments),
    ...tools.map((tool) => tool.arguments),
    ...Object.values(agentArguments),
    ...Object.values(agents).flatMap((agent) => Object.values(agent.arguments ?? {})),
    ...approvalRules.map(({ unless }) => unless),
  ];
  const asking = [
    ...rules.flatMap(({ when, unless, whom }) => [when, unless, whom]),
    ...approvalRules.map(({ whom }) => whom),
  ];
  const named = asking.flatMap((one) => Object.keys(one?.claims ?? {}));
  const asked = authorizerClaims({ authorization });
  const compared = bounds.flatMap((one) => (one === undefined ? [] : claimsInBounds(one)));
  return [...new Set([...named, ...asked, ...compared, ...claimsOfLists(lists)])];
}

/** Names of the claims in the addresses of lists. */
function claimsOfLists(lists: Lists): readonly string[] {
  return Object.values(lists).flatMap((list) => ('lookup' in list ? claimsInAddress(list.lookup.url) : []));
}

/** Names of the claims that these bounds compare with. */
export function claimsInBounds(bounds: ArgumentBounds): readonly string[] {
  return Object.values(bounds)
    .flatMap(({ oneOf, notOneOf }) => [oneOf, notOneOf])
    .flatMap((source) => (source !== undefined && 'claim' in source ? [source.claim] : []));
}

/** What is on the records of a claim, at most: so many values, each of so many characters. */
export const mostClaimValues = 64;
export const longestClaimValue = 256;

/** The values of a claim as texts; nothing of one that is neither a text, a number, a boolean nor a list of these. */
export function claimValues(claim: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const texts = items.filter((item) => ['string', 'number', 'boolean'].includes(typeof item)).map(String);
  return texts.slice(0, mostClaimValues).map((text) => text.slice(0, longestClaimValue));
}
