import { compileEvaluator, dependsOn, localPrincipal, wildcard, withoutFacts } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import type { AgentRequest } from '@sluice/contracts';
import { createAuthorizer, isDecidedHere } from '@sluice/authorization';
import { builtInTools } from '@sluice/packs';
import { beginning, decideIteration, tryCall, withConditions } from '@sluice/run';
import type { TriedCall } from '@sluice/run';
import { checkingTools } from '@sluice/tools';
import { outsideRuns } from './system/outside-runs.js';
import type { Paint } from './show/paint.js';

/** What the call of a request would come to, as far as a command can know. */
interface DryCall extends TriedCall {
  readonly approvers?: readonly string[];
  /** What rules about the tool ask for and only a run has; absent where all of it is known. */
  readonly depends_on?: ReturnType<typeof dependsOn>;
}

/**
 * Judges the call of a request by the configuration alone. Who would make it is known without an identity only; else
 * its caller counts as one who may use the groups and connections that it names, and no authorizer decides here.
 */
export async function dryCall(
  asked: AgentRequest & { readonly requestId: string; readonly sessionId: string },
  configuration: Configuration,
  now: number,
): Promise<DryCall> {
  const isLocal = configuration.identity.provider === 'none';
  const unknown = outsideRuns(configuration);
  const whole = compileEvaluator(isLocal ? configuration : openTo(configuration));
  const evaluator = withoutFacts(whole, unknown);
  const { run, request, permission } = beginning(asked, localPrincipal, evaluator, now);
  if (!permission.ok) throw new Error(`The request would be refused: ${permission.message}`);
  const judged = withConditions(run, evaluator, { loads: {}, held: [] }, { channel: '', claims: {} });
  const iteration = decideIteration(request, request, judged, evaluator, now);
  if (iteration.kind === 'end')
    throw new Error(
      `The run would end before its first turn: ${iteration.response.error?.message ?? 'it has an answer'}`,
    );
  const ids = iteration.decision.offered.map(({ id }) => id);
  const asks = isLocal && isDecidedHere(configuration.authorization);
  const tried = await tryCall(iteration.record, evaluator, ids, now, {
    source: checkingTools(configuration, builtInTools),
    authorizer: asks || configuration.authorization === null ? createAuthorizer(configuration.authorization) : null,
    past: null,
    seesOthers: true,
    mayName: () => true,
    onFault: () => undefined,
  });
  if (tried === null) throw new Error('The request makes no call.');
  const open = dependsOn(whole, tried.tool, unknown);
  return {
    ...tried,
    ...(tried.needs_approval === true ? { approvers: configuration.policy.approvers } : {}),
    ...(open.length === 0 ? {} : { depends_on: open }),
  };
}

/** The same with connections that are open to whichever tenant asks. */
function openTo(configuration: Configuration): Configuration {
  const { connections } = configuration;
  if (connections === undefined) return configuration;
  return { ...configuration, connections: connections.map((one) => ({ ...one, tenants: [wildcard] })) };
}

/** The same in words, a line for each thing that is known. */
export function dryCallInWords(call: DryCall, paint: Paint): string {
  const line = (name: string, text: string): string => `${paint.dim(name.padEnd(10))} ${text}\n`;
  const lines = [
    line('call', `${paint.tool(call.tool)} ${outcomeInWords(call, paint)}`),
    line('offered', call.offered ? 'yes' : 'no'),
    line('arguments', argumentsInWords(call)),
    ...call.problems.map(({ path, message }) => line('', `${path || '(arguments)'}: ${message}`)),
    ...(call.effect === null ? [] : [line('effect', call.effect)]),
    ...(call.authorized === null && call.outcome !== 'refused'
      ? [line('permitted', 'the authorizer decides at the call')]
      : []),
    ...(call.needs_approval === null ? [] : [line('approval', approvalInWords(call))]),
    ...(call.lists.length === 0 ? [] : [line('lists', `${call.lists.join(', ')}: looked up at the call`)]),
    ...call.counted.map((one) => line('counted', countedInWords(one))),
    ...(call.depends_on === undefined ? [] : [line('depends on', call.depends_on.join(', '))]),
    ...(call.rule === null ? [] : [line('rule', call.rule)]),
    ...(call.message === null ? [] : [line('refused', call.message)]),
  ];
  return lines.join('');
}

function outcomeInWords({ outcome, code, reason }: DryCall, paint: Paint): string {
  switch (outcome) {
    case 'runs':
      return paint.good('would run');
    case 'waits':
      return paint.good('would wait for an approval');
    case 'refused':
      return paint.bad(`would be refused: ${[code, reason].filter((one) => one !== null).join(', ')}`);
  }
}

function argumentsInWords({ arguments_valid: isValid }: DryCall): string {
  if (isValid === null) return 'not checked: the call is refused before';
  return isValid ? 'valid' : 'not valid';
}

function approvalInWords({ needs_approval: isNeeded, approvers = [] }: DryCall): string {
  return isNeeded === true ? `needed, of ${approvers.join(', ')}` : 'not needed';
}

function countedInWords({ rule, per, within, argument, used, limit }: DryCall['counted'][number]): string {
  const what = argument === null ? 'calls' : `as the sum of ${argument}`;
  const before = used === null ? 'at most' : `${used} used of`;
  return `${rule}: ${before} ${limit} ${what} per ${per} within ${within}`;
}
