import {
  allowedConnections,
  type Evaluator,
  type JsonObject,
  type Principal,
  type UnknownTools,
  wildcard,
} from '@sluice/core';
import { beginningFacts, channelHeader, type Measured, originOf } from '@sluice/run';

/** Who asks, by a credential that holds. */
export interface KnownCaller {
  readonly principal: Principal;
  readonly claims: JsonObject | undefined;
}

/**
 * What rules go by beside the caller: what the user asked last, what was measured, and milliseconds since the epoch.
 */
interface AtRequest {
  readonly question: string;
  readonly measured: Measured;
  readonly now: number;
}

/**
 * Which names the caller may use. A tool that the configuration has is held to its groups, its state, the policy and
 * the rules, as in the first turn of a run.
 */
export function rightsOf(
  { principal, claims }: KnownCaller,
  evaluator: Evaluator,
  unknownTools: UnknownTools,
  { question, measured, now }: AtRequest,
): (name: string) => boolean {
  const { configuration } = evaluator;
  const connections = allowedConnections(configuration.connections, principal, [wildcard]);
  const origin = originOf({ [channelHeader]: 'proxy' }, claims, evaluator);
  const rules = beginningFacts(principal, question, origin, measured, evaluator, now);
  const facts = { groups: principal.groups, state: null, toolIds: null, calls: {}, connections, rules };
  const offered = new Set(evaluator.evaluate(facts).offered.flatMap(({ id, key }) => [id, key]));
  return (name) => (evaluator.tool(name) === undefined ? unknownTools === 'pass' : offered.has(name));
}
