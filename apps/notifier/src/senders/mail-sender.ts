import { claimMemoryMs, printable } from '@sluice/core';
import type { MailReceiver, NotifyReceiver } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { isLinkSecret, linkToken } from '@sluice/notify';
import type { Runtime } from '@sluice/host';
import { NotifiedApprovals } from '../approvals-shown.js';
import type { NotifiedApproval } from '../approvals-shown.js';
import { DeliveryError, secretOf } from './sender.js';
import type { Sender, Sending } from './sender.js';
import { mailFailure, mailTransport } from './mail-server.js';
import type { MailTransport } from './mail-server.js';

type Recipients = NotifyReceiver & { readonly kind: 'mail' };

/** Characters of a tool’s name that a subject has. */
const longestName = 80;

/** Mails approvers that a call waits, each with a link of its own to the console. */
export class MailSender implements Sender<Recipients> {
  private readonly approvals: NotifiedApprovals;
  private transport: MailTransport | undefined;
  private server = '';

  constructor(
    _privateHosts: readonly string[],
    private readonly runtime: Runtime,
  ) {
    this.approvals = new NotifiedApprovals(runtime);
  }

  async send({ record, receiver, notify }: Sending<Recipients>, signal: AbortSignal): Promise<void> {
    const { environment, clock, ledger } = this.runtime;
    const server = secretOf(receiver.serverEnv, environment.secret);
    const transport = this.transportFor(receiver, server, notify.privateHosts);
    const secret = linkSecretOf(receiver, environment.secret);
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
      // The same message id each time: a mail that comes twice can be left out.
      const mail = {
        from: receiver.from,
        to,
        messageId: messageIdOf(id, receiver),
        ...messageOf(approval, link, expiresAt),
      };
      await transport.sendMail(mail).catch((error: unknown) => {
        throw mailFailure(error, receiver);
      });
      await ledger.settle(key, receiver.id, 'sent');
    }
  }

  close(): Promise<void> {
    this.transport?.close();
    return Promise.resolve();
  }

  private transportFor(receiver: Recipients, server: string, privateHosts: readonly string[]): MailTransport {
    if (this.transport !== undefined && this.server === server) return this.transport;
    this.transport?.close();
    this.transport = undefined;
    this.transport = mailTransport(server, privateHosts, receiver);
    this.server = server;
    return this.transport;
  }
}

/** The secret that signs links. Throws DeliveryError. */
export function linkSecretOf(
  { linkSecretEnv }: Pick<MailReceiver, 'linkSecretEnv'>,
  secret: (variable: string) => string | undefined,
): string {
  const value = secretOf(linkSecretEnv, secret);
  if (isLinkSecret(value)) return value;
  throw new DeliveryError('secret', `The variable ${linkSecretEnv} holds less than 24 bytes.`);
}

/** The id of a mail, at the domain of its sender. */
export function messageIdOf(id: string, { from }: Pick<MailReceiver, 'from'>): string {
  const host =
    from
      .split('@')
      .at(-1)
      ?.replace(/[^\w.-]/g, '') ?? 'localhost';
  return `<${id}@${host}>`;
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
