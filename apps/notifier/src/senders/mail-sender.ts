import { createTransport } from 'nodemailer';
import { claimMemoryMs, printable } from '@sluice/core';
import type { NotifyReceiver } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { isLinkSecret, linkToken } from '@sluice/notify';
import type { Runtime } from '@sluice/host';
import { NotifiedApprovals } from '../approvals-shown.js';
import type { NotifiedApproval } from '../approvals-shown.js';
import { DeliveryError, secretOf } from './sender.js';
import type { DeliveryFailure, Sender, Sending } from './sender.js';

type Recipients = NotifyReceiver & { readonly kind: 'mail' };
type Transport = ReturnType<typeof createTransport>;

const answerMs = 15_000;
/** Characters of a tool’s name that a subject has. */
const longestName = 80;

/** Mails approvers that a call waits, each with a link of its own to the console. */
export class MailSender implements Sender<Recipients> {
  private readonly approvals: NotifiedApprovals;
  private transport: Transport | undefined;
  private server = '';

  constructor(
    _privateHosts: readonly string[],
    private readonly runtime: Runtime,
  ) {
    this.approvals = new NotifiedApprovals(runtime);
  }

  async send({ record, receiver, notify }: Sending<Recipients>, signal: AbortSignal): Promise<void> {
    const { environment, clock, ledger } = this.runtime;
    const transport = this.transportFor(secretOf(receiver.serverEnv, environment.secret), notify.privateHosts);
    const secret = secretOf(receiver.linkSecretEnv, environment.secret);
    if (!isLinkSecret(secret))
      throw new DeliveryError('secret', `The variable ${receiver.linkSecretEnv} holds less than 24 bytes.`);
    const approval = await this.approvals.of(record.subject);
    // A reader of a mail about a call that waits no more would find nothing to decide.
    if (approval === null || approval.decision !== null || clock.now() >= approval.requested.expiresAt) return;
    const expiresAt = Math.min(record.at + receiver.linkMs, approval.requested.expiresAt);
    for (const to of receiver.to) {
      signal.throwIfAborted();
      const id = sha256(JSON.stringify([record.notificationId, receiver.id, to])).slice(0, 40);
      const key = `mail/${id}`;
      const claim = await ledger.claim({ key, owner: receiver.id, now: clock.now(), ttlMs: claimMemoryMs });
      if (claim.value !== null) continue;
      const token = linkToken({ approvalId: record.subject, expiresAt, id }, secret);
      const link = `${notify.baseUrl ?? ''}/v1/mail-links/${token}`;
      const host =
        receiver.from
          .split('@')
          .at(-1)
          ?.replace(/[^\w.-]/g, '') ?? 'localhost';
      // The same message id each time: a mail that comes twice can be left out.
      const mail = { from: receiver.from, to, messageId: `<${id}@${host}>`, ...messageOf(approval, link, expiresAt) };
      await transport.sendMail(mail).catch((error: unknown) => {
        throw failed(error);
      });
      await ledger.settle(key, receiver.id, 'sent');
    }
  }

  close(): Promise<void> {
    this.transport?.close();
    return Promise.resolve();
  }

  private transportFor(server: string, privateHosts: readonly string[]): Transport {
    if (this.transport !== undefined && this.server === server) return this.transport;
    this.transport?.close();
    if (!/^smtps?:\/\//.test(server) || !URL.canParse(server))
      throw new DeliveryError('secret', 'The address of the mail server is no smtp:// or smtps:// address.');
    const { protocol, hostname, port, username, password } = new URL(server);
    const isSecure = protocol === 'smtps:';
    const isNamed = privateHosts.some((one) => [hostname, `${hostname}:${port}`].includes(one));
    this.transport = createTransport({
      ...{ host: hostname, port: Number(port || (isSecure ? 465 : 587)), secure: isSecure },
      // In the clear to a host of one’s own network alone.
      requireTLS: !isSecure && !isNamed,
      ignoreTLS: !isSecure && isNamed,
      ...{ connectionTimeout: answerMs, greetingTimeout: answerMs, socketTimeout: answerMs },
      ...{ disableFileAccess: true, disableUrlAccess: true },
      ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    });
    this.server = server;
    return this.transport;
  }
}

function messageOf({ requested, view, isEscalated }: NotifiedApproval, link: string, expiresAt: number) {
  const tool = printable(view.tool.key).replaceAll(/\s+/g, ' ').slice(0, longestName);
  const { requestedBy, onBehalfOf, askedBecause, approvalId } = requested;
  const lines = [
    `A call of ${tool} waits for an approval.`,
    '',
    `Asked by: ${printable(requestedBy)}${onBehalfOf === null ? '' : ` for ${printable(onBehalfOf)}`}`,
    ...(askedBecause === '' ? [] : [`Why: ${printable(askedBecause)}`]),
    `Until: ${new Date(requested.expiresAt).toISOString()}`,
    `Approval: ${approvalId}`,
    '',
    'Its arguments are in the console, which asks you to sign in. The link decides nothing:',
    link,
    '',
    `It works once, until ${new Date(expiresAt).toISOString()}. The console lists what waits without it too.`,
  ];
  return { subject: `${isEscalated ? 'Still waits' : 'Waits'} for an approval: ${tool}`, text: lines.join('\n') };
}

/** Nothing of what a server says is repeated: it may quote addresses. */
function failed(error: unknown): DeliveryError {
  const { code, responseCode } = error as MailFault;
  const said = responseCode === undefined ? (code ?? 'no answer') : String(responseCode);
  return new DeliveryError(failureOf({ code, responseCode }), `The mail server did not take it: ${said}.`, {
    cause: error,
  });
}

interface MailFault {
  readonly code?: string | undefined;
  readonly responseCode?: number | undefined;
}

function failureOf({ code, responseCode }: MailFault): DeliveryFailure {
  if (code === 'ETIMEDOUT') return 'timeout';
  if (code === 'EAUTH' || code === 'EENVELOPE' || (responseCode ?? 0) >= 500) return 'refused';
  return responseCode === undefined ? 'unreachable' : 'failed';
}
