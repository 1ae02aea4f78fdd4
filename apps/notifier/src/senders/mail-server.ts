import { createTransport } from 'nodemailer';
import type { MailReceiver } from '@sluice/core';
import { DeliveryError } from './sender.js';
import type { DeliveryFailure } from './sender.js';

export type MailTransport = ReturnType<typeof createTransport>;

type Named = Pick<MailReceiver, 'id' | 'serverEnv'>;

/** What the library says of a mail that was not taken. */
interface MailFault {
  readonly code?: string | undefined;
  readonly command?: string | undefined;
  readonly responseCode?: number | undefined;
}

const answerMs = 15_000;

/**
 * Connections to the mail server at an `smtp://` or `smtps://` address with user and password. In the clear to a host
 * of one’s own network alone. Throws DeliveryError, which does not repeat the address.
 */
export function mailTransport(server: string, privateHosts: readonly string[], { serverEnv }: Named): MailTransport {
  if (!/^smtps?:\/\//.test(server) || !URL.canParse(server))
    throw new DeliveryError('secret', `The variable ${serverEnv} holds no smtp:// or smtps:// address.`);
  const { protocol, hostname, port, username, password } = new URL(server);
  const isSecure = protocol === 'smtps:';
  const isNamed = privateHosts.some((one) => [hostname, `${hostname}:${port}`].includes(one));
  return createTransport({
    ...{ host: hostname, port: Number(port || (isSecure ? 465 : 587)), secure: isSecure },
    requireTLS: !isSecure && !isNamed,
    ignoreTLS: !isSecure && isNamed,
    ...{ connectionTimeout: answerMs, greetingTimeout: answerMs, socketTimeout: answerMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  });
}

/** Why a mail was not taken, and what to look at. Nothing of what a server says is repeated: it may quote addresses. */
export function mailFailure(error: unknown, named: Named): DeliveryError {
  const fault = error as MailFault;
  const said = fault.responseCode === undefined ? (fault.code ?? 'no answer') : String(fault.responseCode);
  return new DeliveryError(failureOf(fault), `${sentenceOf(fault, named)} (${said}).`, { cause: error });
}

function sentenceOf({ code, command, responseCode }: MailFault, { id, serverEnv }: Named): string {
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return `The mail server did not take the user and password in ${serverEnv}`;
    case 'EENVELOPE':
      if (command === 'MAIL FROM') return `The mail server did not take the sender, notify.mail.${id}.from`;
      return command === 'RCPT TO'
        ? `The mail server did not take a recipient of notify.mail.${id}.to`
        : 'The mail server did not take the mail';
    case 'ETLS':
      return `The mail server offers no TLS: give a smtps:// address in ${serverEnv}, or name the host in notify.private_hosts`;
    case 'ETIMEDOUT':
      return 'The mail server did not answer in time';
    case 'EDNS':
    case 'ESOCKET':
    case 'ECONNECTION':
      if (responseCode === undefined) return `The mail server cannot be reached at the address in ${serverEnv}`;
      return 'The mail server ended the connection';
    default:
      return 'The mail server did not take the mail';
  }
}

function failureOf({ code, responseCode }: MailFault): DeliveryFailure {
  if (code === 'ETIMEDOUT') return 'timeout';
  // From 500 on, a server will not take it later either.
  if (responseCode !== undefined) return responseCode >= 500 ? 'refused' : 'failed';
  return ['EAUTH', 'ENOAUTH', 'EENVELOPE', 'ETLS'].includes(code ?? '') ? 'refused' : 'unreachable';
}
