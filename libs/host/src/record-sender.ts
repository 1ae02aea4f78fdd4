import { clockSkewMs, Fault } from '@sluice/core';
import type { Authentication, Authenticator, Configuration } from '@sluice/core';
import { trustedTimeOf } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import { recordContent, topics } from '@sluice/contracts';
import type { AgentRequest, RequestTopic } from '@sluice/contracts';
import { deliveryId, deliveryProblem } from '@sluice/identity';
import {
  deliveryIn,
  hookRequest,
  isHookCredential,
  isOwnRequestId,
  isScheduleCredential,
  ownPrincipal,
  ownRequestId,
  scheduleOf,
} from '@sluice/run';
import type { CarriedDelivery, ScheduledTopic } from '@sluice/run';
import { hookSecrets } from './hook-secrets.js';
import type { Runtime } from './runtime.js';

/** How a request came that no caller made. */
type OwnChannel = 'schedule' | 'hook';

/** Who sent a record; `channel` where the credential says how it came. */
export type Sender = Authentication & { readonly channel?: OwnChannel };

type Verifying = Pick<Runtime, 'configurations' | 'credentials' | 'environment' | 'signatures'>;

/**
 * Verifies the credential of a record: a caller’s, the filter’s signature for what a schedule of the configuration in
 * force asks, or the delivery of a hook with its sender’s signature. Over HTTP and MCP no one is a schedule or a hook.
 */
export async function senderOf(
  message: Incoming<ScheduledTopic>,
  runtime: Verifying,
  authenticator: Authenticator,
): Promise<Sender> {
  const { configuration } = runtime.configurations.current();
  const credential = await runtime.credentials.of(message);
  const at = trustedTimeOf(message);
  if (isHookCredential(credential)) return hookSender(message, credential, runtime, at);
  if (!isScheduleCredential(credential)) return authenticator.authenticate(configuration.identity, credential, at);
  const name = await scheduleOf(credential, message, { ...runtime, at });
  if (name === null) return { ok: false, message: notOfSchedule };
  const schedule = configuration.schedules?.find((one) => one.name === name);
  if (schedule === undefined) return { ok: false, message: `There is no schedule ${name} any more.` };
  return { ok: true, principal: ownPrincipal(schedule, configuration), channel: 'schedule' };
}

/**
 * The same for a request under its id. A caller takes no id of a run that a schedule or a hook starts: it counts as one
 * without a credential.
 */
export async function senderOfRequest(
  message: Incoming<RequestTopic>,
  requestId: string,
  runtime: Verifying,
  authenticator: Authenticator,
): Promise<Sender> {
  const sender = await senderOf(message, runtime, authenticator);
  return sender.channel === undefined && isOwnRequestId(requestId) ? { ok: false, message: ownRequestId } : sender;
}

/**
 * The request must be what this service makes of the delivery itself, by the configuration in force or by the one that
 * the gateway had a moment before.
 */
function hookSender(message: Incoming<ScheduledTopic>, credential: string, runtime: Verifying, at: number): Sender {
  const { configuration } = runtime.configurations.current();
  const delivery = deliveryIn(credential);
  const hook = configuration.hooks?.find(({ name }) => name === delivery?.hook);
  if (delivery === null || hook === undefined || message.topic !== topics.requests)
    return { ok: false, message: 'The record is of no hook that the configuration has.' };
  const secrets = hookSecrets(hook, runtime.environment);
  if (secrets.length === 0)
    throw new Fault('identity_unreachable', `The variable ${hook.secretEnv} of a hook is not set here.`, true);
  const problem = deliveryProblem(hook.scheme, delivery, { secrets, at, slackMs: clockSkewMs });
  if (problem !== null) return { ok: false, message: problem };
  const isOwn = [configuration, runtime.configurations.versionOrNull(delivery.version)?.configuration].some(
    (one) => one !== undefined && isMadeBy(one, delivery, message.record),
  );
  if (!isOwn) return { ok: false, message: 'The request is not what the hook makes of its delivery.' };
  return { ok: true, principal: ownPrincipal(hook, configuration), channel: 'hook' };
}

function isMadeBy({ hooks = [] }: Configuration, delivery: CarriedDelivery, record: AgentRequest): boolean {
  const hook = hooks.find(({ name }) => name === delivery.hook);
  const id = hook === undefined ? null : deliveryId(hook.scheme, delivery);
  if (hook === undefined || id === null) return false;
  try {
    const made = hookRequest(hook, { id, body: delivery.body });
    return recordContent('AgentRequest', made) === recordContent('AgentRequest', record);
  } catch {
    // Its sender signed what is no JSON.
    return false;
  }
}

const notOfSchedule = 'The filter did not sign this record as one of a schedule, or signed it too long before.';
