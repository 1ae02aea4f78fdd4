import type { NotifyReceiver, NotifySettings } from '@sluice/core';
import type { Notification } from '@sluice/contracts';

/** Why a notification was not received, as metrics name it. */
export type DeliveryFailure =
  'refused' | 'failed' | 'gone' | 'redirect' | 'timeout' | 'unreachable' | 'not_public' | 'secret' | 'limited';

export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  constructor(
    readonly failure: DeliveryFailure,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** What is to be sent, under the configuration in force. */
export interface Sending<R extends NotifyReceiver = NotifyReceiver> {
  readonly record: Notification;
  readonly receiver: R;
  readonly notify: NotifySettings;
}

/** Sends notifications of one kind of receiver, once; the consumer tries again. */
export interface Sender<R extends NotifyReceiver = NotifyReceiver> {
  /** Throws DeliveryError where the receiver did not take it. */
  send(sending: Sending<R>, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The secret in a variable. Throws DeliveryError that names the variable, and never the value. */
export function secretOf(variable: string, secret: (variable: string) => string | undefined): string {
  let value: string | undefined;
  try {
    value = secret(variable);
  } catch (error) {
    // The file that holds it cannot be read, or has nothing in it.
    throw new DeliveryError('secret', (error as Error).message, { cause: error });
  }
  if (value === undefined || value === '')
    throw new DeliveryError('secret', `The variable ${variable} with its secret is not set.`);
  return value;
}
