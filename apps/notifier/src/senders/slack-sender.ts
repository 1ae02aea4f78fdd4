import { setTimeout as pause } from 'node:timers/promises';
import { claimMemoryMs } from '@sluice/core';
import type { JsonObject, JsonValue, NotifyReceiver } from '@sluice/core';
import { endedMessage, SlackApi, SlackError, waitingMessage } from '@sluice/notify';
import type { SlackMessage } from '@sluice/notify';
import type { Runtime } from '@sluice/host';
import { NotifiedApprovals } from '../approvals-shown.js';
import type { NotifiedApproval } from '../approvals-shown.js';
import { secretOf } from './sender.js';
import type { Sender, Sending } from './sender.js';
import { slackFailure } from './slack-failure.js';

type Channel = NotifyReceiver & { readonly kind: 'slack' };

/** Where the message about an approval is. */
interface Posted {
  readonly channel: string;
  readonly ts: string;
}

/** The longest pause that Slack may ask for, seconds; where it asks for more, the delivery is tried again later. */
const longestPause = 30;
/** Messages of a channel that are looked at for one that may have been posted. */
const lookedAt = 200;
const metadataType = 'sluice_approval';

/** Posts one message for each approval, and changes it as the approval goes on. */
export class SlackSender implements Sender<Channel> {
  private readonly api: SlackApi;
  private readonly approvals: NotifiedApprovals;

  constructor(
    privateHosts: readonly string[],
    private readonly runtime: Runtime,
  ) {
    this.api = new SlackApi(privateHosts);
    this.approvals = new NotifiedApprovals(runtime);
  }

  async send({ record, receiver, notify }: Sending<Channel>, signal: AbortSignal): Promise<void> {
    const token = secretOf(receiver.tokenEnv, this.runtime.environment.secret);
    const call = (method: string, body: JsonObject) => this.call(method, receiver, token, body, signal);
    const approval = await this.approvals.of(record.subject);
    if (approval === null) return;
    const key = `slack/${receiver.id}/${record.subject}`;
    const { ledger, clock } = this.runtime;
    const known = await ledger.find(key);
    const isOver = approval.decision !== null || clock.now() >= approval.requested.expiresAt;
    // Of an approval that ended before anything was posted nothing needs to be.
    if (known === undefined && (isOver || record.event === 'approval.ended')) return;
    const message = messageOf(approval, receiver, notify.baseUrl, isOver);
    const claim = await ledger.claim({ key, owner: receiver.id, now: clock.now(), ttlMs: claimMemoryMs });
    // A process that was lost may have posted it without having written down where.
    const found =
      known === undefined
        ? null
        : (postedIn(claim.value) ?? (await find(record.subject, receiver, claim.claimedAt, call)));
    if (found === null) {
      if (isOver) return;
      const metadata = { event_type: metadataType, event_payload: { approval_id: record.subject } };
      const { channel, ts } = await call('chat.postMessage', {
        ...{ channel: receiver.channel, metadata, unfurl_links: false, unfurl_media: false },
        ...asJson(message),
      });
      await ledger.settle(key, receiver.id, JSON.stringify({ channel, ts }));
      return;
    }
    if (claim.value === null) await ledger.settle(key, receiver.id, JSON.stringify(found));
    await call('chat.update', { channel: found.channel, ts: found.ts, ...asJson(message) });
  }

  close(): Promise<void> {
    return this.api.close();
  }

  /** Waits as Slack says, once; throws DeliveryError. */
  private async call(
    method: string,
    receiver: Channel,
    token: string,
    body: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const call = () => this.api.call(method, { apiUrl: receiver.apiUrl, token }, body, signal);
    try {
      return await call().catch(async (error: unknown) => {
        const after = error instanceof SlackError ? error.retryAfter : null;
        if (after === null || after > longestPause) throw error;
        await pause(after * 1_000, undefined, { signal });
        return call();
      });
    } catch (error) {
      throw slackFailure(error, receiver);
    }
  }
}

/** The message about the approval, where the channel has it. */
async function find(
  approvalId: string,
  { channel }: Channel,
  since: number,
  call: (method: string, body: JsonObject) => Promise<JsonObject>,
): Promise<Posted | null> {
  const oldest = String(Math.floor(since / 1_000) - 60);
  const { messages } = await call('conversations.history', {
    ...{ channel, oldest, limit: lookedAt, include_all_metadata: true },
  });
  const found = (Array.isArray(messages) ? (messages as readonly JsonObject[]) : []).find(({ metadata }) => {
    const { event_type, event_payload } = (metadata ?? {}) as JsonObject;
    return event_type === metadataType && (event_payload as JsonObject | undefined)?.['approval_id'] === approvalId;
  });
  return typeof found?.['ts'] === 'string' ? { channel, ts: found['ts'] } : null;
}

function postedIn(value: string | null): Posted | null {
  return value === null ? null : (JSON.parse(value) as Posted);
}

function asJson({ text, blocks }: SlackMessage): JsonObject {
  return { text, blocks: blocks as readonly JsonValue[] as JsonValue };
}

function messageOf(
  { requested, place, view, approvers, stillNeeded, approvedBy, isEscalated, decision }: NotifiedApproval,
  { id, show, deciding }: Channel,
  baseUrl: string | undefined,
  isOver: boolean,
): SlackMessage {
  const { approvalId, requestId, sessionId, argumentsHash, effect, askedBecause, requestedBy } = requested;
  const shown = {
    ...{ tool: view.tool.key, description: view.tool.description, effect, askedBecause, requestedBy },
    ...{ onBehalfOf: requested.onBehalfOf, expiresAt: requested.expiresAt, approvers, isEscalated },
    ...{ stillNeeded, approvedBy },
    question: show.includes('question') ? view.question : null,
    arguments: show.includes('arguments') ? view.arguments : null,
    link: baseUrl === undefined ? null : `${baseUrl}/approvals/${encodeURIComponent(approvalId)}`,
  };
  if (isOver) {
    const { decidedBy = '', reason = '', counted } = decision ?? {};
    const decidedThrough = counted?.decidedThrough ?? null;
    return endedMessage(shown, { decision: decision?.decision ?? 'expire', decidedBy, decidedThrough, reason });
  }
  const ids = { channel: id, approvalId, requestId, sessionId, argumentsHash };
  return waitingMessage(shown, deciding === undefined ? null : { ...ids, ...place });
}
