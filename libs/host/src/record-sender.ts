import { trustedTimeOf } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import type { Authentication, Authenticator } from '@sluice/core';
import { isScheduleCredential, ownPrincipal, scheduleOf } from '@sluice/run';
import type { ScheduledTopic } from '@sluice/run';
import type { Runtime } from './runtime.js';

/** How a request came that no caller made. */
type OwnChannel = 'schedule';

/** Who sent a record; `channel` where the credential says how it came. */
export type Sender = Authentication & { readonly channel?: OwnChannel };

/**
 * Verifies the credential of a record: a caller’s, or the filter’s signature for what a schedule of the configuration
 * in force asks. Over HTTP and MCP no one is a schedule.
 */
export async function senderOf(
  message: Incoming<ScheduledTopic>,
  runtime: Pick<Runtime, 'configurations' | 'credentials' | 'signatures'>,
  authenticator: Authenticator,
): Promise<Sender> {
  const { configuration } = runtime.configurations.current();
  const credential = await runtime.credentials.of(message);
  const at = trustedTimeOf(message);
  if (!isScheduleCredential(credential)) return authenticator.authenticate(configuration.identity, credential, at);
  const name = await scheduleOf(credential, message, { ...runtime, at });
  if (name === null) return { ok: false, message: notOfSchedule };
  const schedule = configuration.schedules?.find((one) => one.name === name);
  if (schedule === undefined) return { ok: false, message: `There is no schedule ${name} any more.` };
  return { ok: true, principal: ownPrincipal(schedule, configuration), channel: 'schedule' };
}

const notOfSchedule = 'The filter did not sign this record as one of a schedule, or signed it too long before.';
