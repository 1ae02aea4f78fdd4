import { fetch } from 'undici';
import type { Agent } from 'undici';
import { guardedConnect } from '@sluice/isolation';
import type { GuardedConnect } from '@sluice/isolation';
import { DeliveryError } from './senders/sender.js';
import type { DeliveryFailure } from './senders/sender.js';

const answerMs = 15_000;
/** Connections to one receiver. */
export const connections = 16;

/** Sends webhooks to public hosts, and to those that notify.private_hosts names. Redirects are not followed. */
export class Receiver {
  private readonly guard: GuardedConnect;
  private readonly agent: Agent;

  constructor(privateHosts: readonly string[]) {
    this.guard = guardedConnect(privateHosts, undefined, 'notify.private_hosts');
    this.agent = this.guard.agent(connections);
  }

  /** Resolves with the status of a receiver that took it. Throws DeliveryError. */
  async send(
    address: string,
    { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
    signal: AbortSignal,
  ): Promise<number> {
    const url = new URL(address);
    const why = this.guard.problemOf(url);
    if (why !== null) throw new DeliveryError('not_public', why);
    const limit = AbortSignal.timeout(answerMs);
    const sent = { dispatcher: this.agent, method: 'POST', headers: { 'user-agent': 'Sluice', ...headers }, body };
    const response = await fetch(url, {
      ...sent,
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit]),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw this.failure(error, url, limit.aborted);
    });
    // Nothing of an answer is read but its status.
    await response.body?.cancel();
    const { status } = response;
    if (response.ok) return status;
    throw new DeliveryError(failureOf(status), `${url.host} answered ${String(status)}.`);
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private failure(error: unknown, { host }: URL, isLate: boolean): DeliveryError {
    const why = this.guard.whyOf(error);
    if (why !== null) return new DeliveryError('not_public', why);
    if (isLate) return new DeliveryError('timeout', `${host} did not answer within ${String(answerMs / 1_000)} s.`);
    return new DeliveryError('unreachable', `${host} cannot be reached.`, { cause: error });
  }
}

function failureOf(status: number): DeliveryFailure {
  if (status === 410) return 'gone';
  if (status >= 300 && status < 400) return 'redirect';
  return status >= 500 ? 'failed' : 'refused';
}
