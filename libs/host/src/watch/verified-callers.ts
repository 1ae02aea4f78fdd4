import type { RequestTopic } from '@sluice/contracts';
import { isCredentialGone, senderHeader } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import type { Authentication, Authenticator, Principal } from '@sluice/core';
import { isSealed } from '../credentials.js';
import { senderOf } from '../record-sender.js';
import { GroupNotes } from './note-groups.js';
import type { Runtime } from '../runtime.js';
import { senderName } from '@sluice/run';
import { isSame } from './run-access.js';

/** A caller whose credential does not hold is not counted by name. */
export const unknownCaller = { tenant: '', actor: '', reason: 'credential' };

/**
 * Who calls a service from outside of the log. The filter verifies the credential that goes along with a record
 * again: what is found here serves the caller alone, who is refused at once, and sees its own runs and no others.
 */
export class VerifiedCallers {
  private readonly notes: GroupNotes;

  constructor(
    private readonly runtime: Pick<
      Runtime,
      'clock' | 'configurations' | 'credentials' | 'environment' | 'log' | 'metrics' | 'signatures'
    >,
    private readonly authenticator: Authenticator,
  ) {
    this.notes = new GroupNotes(runtime);
  }

  /** The caller of an `authorization` header, or what is wrong with it, which is counted. */
  async verify(authorization: string | undefined): Promise<Authentication> {
    const { clock, configurations, metrics } = this.runtime;
    const { identity } = configurations.current().configuration;
    const sender = await this.authenticator.authenticate(identity, authorization, clock.now());
    if (!sender.ok) metrics.refusedRequests.inc(unknownCaller);
    this.notes.note(sender);
    return sender;
  }

  /**
   * Whether the caller is who sent the request, by the credential that came with it, else by what stands in its
   * place.
   */
  async isSender(caller: Principal, request: Incoming<RequestTopic>): Promise<boolean> {
    const { headers } = request;
    const { configurations, credentials } = this.runtime;
    const { identity } = configurations.current().configuration;
    const isHidden = isCredentialGone(headers) || (isSealed(headers) && !credentials.canOpen(request.topic));
    if (identity.provider !== 'none' && isHidden) return headers[senderHeader] === senderName(caller);
    const sender = await senderOf(request, this.runtime, this.authenticator);
    return sender.ok && isSame(sender.principal, caller);
  }
}
