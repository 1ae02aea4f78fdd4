import { Controller, Inject, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { claimMemoryMs, connectionIdForm, knownAgents, quote, receiversOf, suggestion } from '@sluice/core';
import type { NotificationEvent, NotifyReceiver, NotifySettings, Principal } from '@sluice/core';
import { groupOfSubscription, topics } from '@sluice/contracts';
import { guardedConnect } from '@sluice/isolation';
import {
  latestDeliveries,
  mostStored,
  newSubscriptionId,
  newSubscriptionSecret,
  receiverOf,
  StoredSubscriptions,
  withNewSecret,
} from '@sluice/notify';
import type { StoredSubscription } from '@sluice/notify';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { describedBody } from '../described-body.js';
import { Lists } from '../lists/lists.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { ByPrincipal } from '../rights.js';
import { requireNoBody } from '../strict-body.js';

/** Dead letters of a subscription that are listed. */
const mostLetters = 50;

interface Body {
  readonly name?: string;
  readonly url?: string | null;
  readonly events?: readonly NotificationEvent[] | null;
  readonly tenants?: readonly string[] | null;
  readonly agents?: readonly string[] | null;
  readonly outcomes?: readonly string[] | null;
  readonly include?: StoredSubscription['include'] | null;
  readonly retry_seconds?: number | null;
}

/** Who is notified of what, for operators (docs/notifications.md). The notifier reads what is written here. */
@Controller()
export class SubscriptionsController {
  private readonly stored: StoredSubscriptions;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Lists) private readonly lists: Lists,
  ) {
    this.stored = new StoredSubscriptions(runtime.documents);
  }

  @Route('listSubscriptions')
  async list(): Promise<object> {
    const configured = receiversOf(this.notify()).map((receiver) => ({ receiver, one: null }));
    const made = (await this.stored.all()).map((one) => ({ receiver: receiverOf(one, this.now()), one }));
    return {
      subscriptions: await Promise.all([...configured, ...made].map(({ receiver, one }) => this.shown(receiver, one))),
    };
  }

  @Route('createSubscription')
  async create(@Req() request: Request, @ByPrincipal() operator: Principal): Promise<object> {
    const body = describedBody<Body>(request, 'NewSubscription');
    const { name = '', url, events, tenants = null, agents = null, outcomes = null, include } = body;
    const notify = this.notify();
    if (notify === undefined)
      throw new Refusal(
        409,
        'conflict',
        'The configuration has no section notify. Write one, such as notify.base_url.',
      );
    if (!connectionIdForm.test(name)) throw invalid('name must be 1 to 64 letters, digits, `_` and `-`.');
    const made: StoredSubscription = {
      ...{ id: newSubscriptionId(), name, url: usableUrl(url ?? '', notify), events: someEvents(events ?? []) },
      ...{ include: include ?? [], retryMs: (body.retry_seconds ?? 86_400) * 1_000 },
      ...(tenants === null ? {} : { tenants }),
      ...(agents === null ? {} : { agents: this.known(agents) }),
      ...(outcomes === null ? {} : { outcomes }),
      ...{ secret: newSubscriptionSecret(), previous: null, createdBy: operator.actorId, createdAt: this.now() },
    };
    const isConfigured = receiversOf(notify).some(({ id }) => id === name);
    let problem: string | null = null;
    await this.stored.change((all) => {
      const isThere = isConfigured || all.some((one) => one.name === name);
      problem = isThere ? `There is a subscription ${name} already.` : null;
      if (all.length >= mostStored) problem = `There are ${String(mostStored)} subscriptions already.`;
      return problem === null ? [...all, made] : null;
    });
    if (problem !== null) throw new Refusal(409, 'conflict', problem);
    this.say('a subscription was made over HTTP', name, operator);
    return { name, id: made.id, secret: made.secret };
  }

  @Route('changeSubscription')
  async patch(
    @Param('name') name: string,
    @Req() request: Request,
    @ByPrincipal() operator: Principal,
  ): Promise<object> {
    const {
      url,
      events,
      tenants,
      agents,
      outcomes,
      include,
      retry_seconds: seconds,
    } = describedBody<Body>(request, 'SubscriptionChange');
    const notify = this.notify();
    const changes = {
      ...(url == null || notify === undefined ? {} : { url: usableUrl(url, notify) }),
      ...(events == null ? {} : { events: someEvents(events) }),
      ...(include == null ? {} : { include }),
      ...(seconds == null ? {} : { retryMs: seconds * 1_000 }),
    };
    const isAllAgents = agents?.length === 1 && agents[0] === '*';
    const named = agents == null || isAllAgents ? agents : this.known(agents);
    const changed = await this.changeOne(name, (one) => {
      const { tenants: formerTenants, agents: formerAgents, outcomes: formerOutcomes, ...rest } = one;
      return {
        ...rest,
        ...changes,
        ...filter('tenants', tenants ?? formerTenants),
        ...filter('agents', named ?? formerAgents),
        ...filter('outcomes', outcomes ?? formerOutcomes),
      };
    });
    this.say('a subscription was changed over HTTP', name, operator);
    return this.shown(receiverOf(changed, this.now()), changed);
  }

  @Route('deleteSubscription')
  async remove(@Param('name') name: string, @ByPrincipal() operator: Principal): Promise<object> {
    const changed = await this.stored.change((all) =>
      all.some((one) => one.name === name) ? all.filter((one) => one.name !== name) : null,
    );
    if (changed === null) throw this.unknown(name);
    this.say('a subscription was deleted over HTTP', name, operator);
    return { name, status: 'deleted' };
  }

  @Route('renewSubscriptionSecret')
  async renew(
    @Param('name') name: string,
    @Req() request: Request,
    @ByPrincipal() operator: Principal,
  ): Promise<object> {
    requireNoBody(request);
    const secret = newSubscriptionSecret();
    const { id } = await this.changeOne(name, (one) => withNewSecret(one, secret, this.now()));
    this.say('a subscription has a new secret', name, operator);
    return { name, id, secret };
  }

  @Route('listDeliveries')
  async deliveries(@Param('name') name: string): Promise<object> {
    const made = (await this.stored.all()).find((one) => one.name === name);
    const configured = receiversOf(this.notify()).find((one) => one.id === name);
    const id = made?.id ?? configured?.id;
    if (id === undefined) throw this.unknown(name);
    const filter = { topic: topics.notifications, service: groupOfSubscription(id), since: this.now() - claimMemoryMs };
    const letters = await this.lists.projection.letters(filter, null, mostLetters);
    return {
      attempts: await latestDeliveries(id, this.runtime.documents),
      dead_letters: letters.map(({ id: letter, code, failedAt }) => ({
        ...{ id: letter.replace('/', '-'), code, failed_at: failedAt },
      })),
    };
  }

  private async changeOne(
    name: string,
    change: (one: StoredSubscription) => StoredSubscription,
  ): Promise<StoredSubscription> {
    const changed = await this.stored.change((all) =>
      all.some((one) => one.name === name) ? all.map((one) => (one.name === name ? change(one) : one)) : null,
    );
    const one = changed?.find((each) => each.name === name);
    if (one === undefined) throw this.unknown(name);
    return one;
  }

  /** Those of the configuration are changed there. */
  private unknown(name: string): Refusal {
    const isConfigured = receiversOf(this.notify()).some(({ id }) => id === name);
    const message = isConfigured
      ? 'It stands in the configuration, and is changed there.'
      : 'There is no such subscription.';
    return new Refusal(404, 'not_found', message);
  }

  private async shown(receiver: NotifyReceiver, made: StoredSubscription | null): Promise<object> {
    const { id, kind, events, tenants = null, agents = null, outcomes = null } = receiver;
    const lag = await this.runtime.bus.groupLag(groupOfSubscription(id), [topics.notifications]).catch(() => null);
    return {
      ...{ name: made?.name ?? id, id, kind, made_by: made === null ? 'configuration' : 'http' },
      ...{ url: kind === 'webhook' ? receiver.url : null, events, tenants, agents, outcomes },
      ...{ include: kind === 'webhook' ? receiver.include : [], retry_seconds: receiver.retryMs / 1_000 },
      ...{ created_at: made?.createdAt ?? null, created_by: made?.createdBy ?? null },
      behind: lag === null ? null : lag.reduce((sum, { records }) => sum + records, 0),
    };
  }

  /** Throws Refusal(400) for a name that no agent of the configuration has. */
  private known(agents: readonly string[]): readonly string[] {
    const names = knownAgents(this.runtime.configurations.current().configuration);
    const other = agents.find((agent) => !names.includes(agent));
    if (other === undefined) return agents;
    throw invalid(`agents names ${quote(other)}, which no agent has. Write ${suggestion(other, names)}.`);
  }

  private notify(): NotifySettings | undefined {
    return this.runtime.configurations.current().configuration.notify;
  }

  private now(): number {
    return this.runtime.clock.now();
  }

  private say(message: string, subscription: string, { actorId: by }: Principal): void {
    this.runtime.log.info({ subscription, by }, message);
  }
}

/** Throws Refusal(400) for what goes beyond one’s own network in the clear, and for an address that is not public. */
function usableUrl(text: string, { privateHosts }: NotifySettings): string {
  if (!URL.canParse(text)) throw invalid('url must be an address such as https://hooks.example.org/sluice.');
  const { protocol, hostname, host, username, password } = new URL(text);
  if (username !== '' || password !== '') throw invalid('url must have no user and no password in it.');
  const isNamed = privateHosts.some((one) => [hostname, host, `${hostname}:80`].includes(one.toLowerCase()));
  if (protocol !== 'https:' && !(protocol === 'http:' && isNamed))
    throw invalid('url must be https, or a host that notify.private_hosts names.');
  // A name is looked at when the connection is opened.
  const problem = guardedConnect(privateHosts, undefined, 'notify.private_hosts').problemOf(new URL(text));
  if (problem !== null) throw invalid(`url: ${problem}`);
  return text;
}

function someEvents(events: readonly NotificationEvent[]): readonly NotificationEvent[] {
  if (events.length === 0) throw invalid('events must name one at least.');
  return [...new Set(events)];
}

function filter<K extends string>(
  name: K,
  values: readonly string[] | undefined,
): { readonly [P in K]?: readonly string[] } {
  const isAll = values === undefined || (values.length === 1 && values[0] === '*');
  return (isAll ? {} : { [name]: values }) as { readonly [P in K]?: readonly string[] };
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
