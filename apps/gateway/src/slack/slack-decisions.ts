import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type { Request } from 'express';
import { isJsonObject, Fault, printable } from '@sluice/core';
import type { JsonObject, SlackChannel } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import {
  buttonIn,
  decisionActions,
  dialogIn,
  isSignedBySlack,
  noteView,
  reasonDialog,
  reasonField,
  reasonView,
  SlackApi,
  SlackError,
} from '@sluice/notify';
import type { ButtonValue, SlackRequest } from '@sluice/notify';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Callers } from '../caller.js';
import { Decisions } from '../decisions.js';
import { Refusal } from '../refusal.js';
import { requireSize } from '../requests.js';

type InteractionResult = 'dialog' | 'decided' | 'unknown_user' | 'not_counted' | 'unsigned' | 'ignored' | 'failed';

type Deciding = SlackChannel & { readonly deciding: NonNullable<SlackChannel['deciding']> };

/** Slack waits three seconds for an answer: so long the outcome of a decision is waited for, milliseconds. */
const outcomeMs = 1_500;
const callMs = 2_500;

/**
 * Decisions that persons make in Slack. What comes counts by Slack’s signature; its user is the person that the
 * configuration names, for whom the service of `credential_env` decides. Executors judge that as any other decision.
 */
@Injectable()
export class SlackDecisions implements OnModuleDestroy {
  private api: SlackApi | undefined;
  private hosts = '';

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Decisions) private readonly decisions: Decisions,
  ) {}

  async onModuleDestroy(): Promise<void> {
    await this.api?.close();
  }

  /** The answer to Slack. Throws Refusal(401) where Slack signed no such request within five minutes. */
  async interaction(http: Request, request: SlackRequest): Promise<object> {
    const signers = this.signersOf(request);
    if (signers.length === 0) {
      this.count('unsigned');
      throw new Refusal(
        401,
        'authz_denied',
        'Slack signed no such request by a secret of notify.slack, or too long ago.',
      );
    }
    const payload = payloadIn(request.body);
    switch (payload['type']) {
      case 'block_actions':
        return this.pressed(payload, signers);
      case 'view_submission':
        return this.submitted(payload, signers, http);
      default:
        return this.ignored();
    }
  }

  private count(result: InteractionResult): void {
    this.runtime.metrics.slackInteractions.inc({ result });
  }

  private ignored(): object {
    this.count('ignored');
    return {};
  }

  /** The channels by whose secret the request is signed. */
  private signersOf(request: SlackRequest): readonly Deciding[] {
    const { configurations, environment, clock } = this.runtime;
    const { notify } = configurations.current().configuration;
    return (notify?.slack ?? []).filter((channel): channel is Deciding => {
      if (channel.deciding === undefined) return false;
      const secret = environment.secret(channel.deciding.signingSecretEnv) ?? '';
      return secret !== '' && isSignedBySlack(request, secret, clock.now());
    });
  }

  /** Opens the dialog for the reason: nothing is decided by a button alone. */
  private async pressed(payload: JsonObject, signers: readonly Deciding[]): Promise<object> {
    const [action = {}] = listIn(payload['actions']);
    const { action_id: id, value } = action;
    const decision = id === decisionActions.approve ? 'approve' : id === decisionActions.refuse ? 'refuse' : null;
    const button = buttonIn(value);
    const channel = signers.find(({ id: name }) => name === button?.channel);
    if (decision === null || button === null || channel === undefined) return this.ignored();
    const person = personOf(payload, channel);
    const view =
      person === null
        ? noteView(`${unmapped(payload)} in the configuration of Sluice (notify.slack).`)
        : reasonView(decision, `${decision === 'approve' ? 'Approve' : 'Refuse'} as ${person}`, value as string);
    const isOpened = await this.open(channel, payload['trigger_id'], view);
    this.count(person === null ? 'unknown_user' : isOpened ? 'dialog' : 'failed');
    return {};
  }

  /** Decides, and says in the dialog why a decision cannot count. */
  private async submitted(payload: JsonObject, signers: readonly Deciding[], http: Request): Promise<object> {
    const view = objectIn(payload['view']);
    if (view['callback_id'] !== reasonDialog) return this.ignored();
    const dialog = dialogIn(view['private_metadata']);
    const channel = signers.find(({ id }) => id === dialog?.value.channel);
    if (dialog === null || channel === undefined) return this.ignored();
    const person = personOf(payload, channel);
    if (person === null) {
      this.count('unknown_user');
      return problem(`${unmapped(payload)}.`);
    }
    const values = objectIn(objectIn(objectIn(objectIn(view['state'])['values'])[reasonField])[reasonField]);
    const reason = typeof values['value'] === 'string' ? values['value'].toWellFormed() : '';
    try {
      await this.decide({ ...dialog, reason, person }, channel, http);
      this.count('decided');
      return { response_action: 'clear' };
    } catch (error) {
      this.count(error instanceof Refusal && error.more['not_taken'] !== undefined ? 'not_counted' : 'failed');
      if (error instanceof Refusal) return problem(error.message);
      if (!(error instanceof Fault)) throw error;
      this.runtime.log.warn({ error: error.message }, 'a decision in Slack was not written');
      return problem('Sluice cannot write the decision now. Try again in a moment.');
    }
  }

  private async decide(
    { decision, value, reason, person }: { decision: string; value: ButtonValue; reason: string; person: string },
    { deciding }: Deciding,
    http: Request,
  ): Promise<void> {
    const { bus, clock, credentials, environment } = this.runtime;
    const key = environment.secret(deciding.credentialEnv) ?? '';
    if (key === '') throw new Refusal(403, 'authz_denied', `The gateway lacks ${deciding.credentialEnv}.`);
    const authorization = `Bearer ${key}`;
    const get = ((name: string) => (name === 'authorization' ? authorization : undefined)) as Request['get'];
    const caller = await this.callers.of({ get, socket: http.socket });
    const { approvalId, requestId, sessionId, argumentsHash, partition, offset } = value;
    const decided = make.approvalDecided({
      ...{ approvalId, requestId, sessionId, argumentsHash, decision, reason },
      ...{ decidedBy: '', decidedFor: person, decidedAt: clock.now() },
      ...{ requestedPartition: partition, requestedOffset: offset },
    });
    const record = make.approval({ decided });
    requireSize(topics.approvals, record);
    const judged = await this.decisions.judge(decided, caller);
    if (judged.taken !== null) return;
    const outgoing = { topic: topics.approvals, record } as const;
    const headers = await credentials.headersFor(outgoing, authorization, caller.principal);
    const followed = this.decisions.follow(judged);
    try {
      await bus.publish([{ ...outgoing, key: judged.asked.sessionId, headers }]);
      await this.decisions.outcome(judged, caller.principal, followed, outcomeMs);
    } finally {
      followed.end();
    }
  }

  /** Whether Slack opened it. */
  private async open(channel: Deciding, trigger: unknown, view: JsonObject): Promise<boolean> {
    const { environment, log } = this.runtime;
    const token = environment.secret(channel.tokenEnv) ?? '';
    if (token === '' || typeof trigger !== 'string') {
      log.warn({ channel: channel.id, variable: channel.tokenEnv }, 'no dialog can be opened in Slack');
      return false;
    }
    try {
      const signal = AbortSignal.timeout(callMs);
      await this.apiFor().call('views.open', { apiUrl: channel.apiUrl, token }, { trigger_id: trigger, view }, signal);
      return true;
    } catch (error) {
      const code = error instanceof SlackError ? error.code : 'timeout';
      log.warn({ channel: channel.id, code }, 'no dialog was opened in Slack');
      return false;
    }
  }

  private apiFor(): SlackApi {
    const { notify } = this.runtime.configurations.current().configuration;
    const hosts = (notify?.privateHosts ?? []).join(' ');
    if (this.api === undefined || hosts !== this.hosts) {
      void this.api?.close();
      this.api = new SlackApi(notify?.privateHosts ?? []);
      this.hosts = hosts;
    }
    return this.api;
  }
}

/** The person that the configuration has for the user who did it, of its own workspace. */
function personOf(payload: JsonObject, { deciding: { users } }: Deciding): string | null {
  const known = namesOf(payload).find((name) => Object.hasOwn(users, name));
  return known === undefined ? null : (users[known] ?? null);
}

/**
 * What the user may be named by, as workspace and id. The workspace is the user’s own, wherever it acted; in an
 * Enterprise organization Slack says the organization of the user, so that both it and its workspace name the user.
 */
function namesOf(payload: JsonObject): readonly string[] {
  const { id, team_id: home } = objectIn(payload['user']);
  const { id: team, enterprise_id: organization } = objectIn(payload['team']);
  if (typeof id !== 'string') return [];
  const workspaces = typeof home !== 'string' ? [team] : home === organization ? [team, home] : [home];
  return workspaces.flatMap((one) => (typeof one === 'string' ? [`${one}/${id}`] : []));
}

function unmapped(payload: JsonObject): string {
  const [name = 'of no workspace'] = namesOf(payload);
  return `Your Slack user (${printable(name).slice(0, 100)}) is mapped to no person`;
}

function problem(sentence: string): object {
  return { response_action: 'errors', errors: { [reasonField]: sentence.slice(0, 1_000) } };
}

/** The form has one field, with JSON. */
function payloadIn(body: string): JsonObject {
  const text = new URLSearchParams(body).get('payload') ?? '';
  try {
    return objectIn(JSON.parse(text));
  } catch {
    throw new Refusal(400, 'invalid_request', 'The body must be a form whose field `payload` holds JSON.');
  }
}

function objectIn(value: unknown): JsonObject {
  return isJsonObject(value as JsonObject) ? (value as JsonObject) : {};
}

function listIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}
