import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { nearest, notificationEvents, printable, receiversOf, suggestion } from '@sluice/core';
import type { NotificationEvent, NotifyReceiver, NotifySettings, NotifySubscription } from '@sluice/core';
import { groupOfSubscription, topics } from '@sluice/contracts';
import { configurationsOn, inForceOf } from '@sluice/run';
import { openBus, requireLog, verifierIfAny } from '@sluice/host';
import { DeliveryError } from '../../../notifier/src/senders/sender.js';
import { sendTrial } from '../../../notifier/src/trial.js';
import { abortOn } from '../abort-on.js';
import { printJson, quietFor } from '../json-answer.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { configurationOf } from '../system/compile-once.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice notify list [--config FILE] [--json]
  Lists the receivers of the configuration in force, or of FILE: where webhooks, messages and mails go, of which events,
  whether the variables of their secrets are set here, and how many records their deliveries are behind. --json prints
  {subscriptions}.
sluice notify test NAME [--event run.ended] [--config FILE] [--json]
  Sends one event that did not happen to the subscription from here, signed with the secrets that are set here. Exit code 1 if
  its receiver does not take it. --json prints {subscription, event, id, status, reason, message}.
sluice notify secret [--json]
  Prints a new secret for the variable that secret_env names. --json prints {secret}.`;

const options = {
  config: { type: 'string' },
  event: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

/** Subscriptions, and of those in force how far behind each is. */
interface Found {
  readonly notify: NotifySettings | null;
  readonly behind: ReadonlyMap<string, number>;
}

export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [action, ...words] = positionals;
  switch (action) {
    case 'list':
      refuseSurplus({ values, words }, { taken: ['config', 'json'], words: 0 }, usage);
      return list(await found(values, context), values, context);
    case 'test': {
      refuseSurplus({ values, words }, { taken: ['config', 'event', 'json'], words: 1 }, usage);
      const [name] = words;
      if (name === undefined) throw new Error(`Name a subscription.\n${usage}`);
      return test(name, eventOf(values.event), values, context);
    }
    case 'secret':
      refuseSurplus({ values, words }, { taken: ['json'], words: 0 }, usage);
      return secret(`whsec_${randomBytes(32).toString('base64')}`, values, context);
    default:
      throw new Error(`${sayWhat('notifications', action)}\n${usage}`);
  }
}

function secret(made: string, { json }: Values, context: CommandContext): number {
  if (json) printJson(context, { secret: made });
  else context.print(`${made}\n`);
  return 0;
}

function eventOf(named: string | undefined): NotificationEvent | undefined {
  const event = notificationEvents.find((one) => one === named);
  if (named !== undefined && event === undefined)
    throw new Error(`There is no event ${printable(named)}. Write ${suggestion(named, notificationEvents)}.`);
  return event;
}

async function found({ config }: Values, context: CommandContext): Promise<Found> {
  if (config !== undefined)
    return { notify: (await configurationOf(config, context)).notify ?? null, behind: new Map() };
  const { environment, log } = context;
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const current = inForceOf(await configurationsOn(bus, verifierIfAny(environment)));
    const notify = current?.read().notify ?? null;
    const lags = receiversOf(notify ?? undefined).map(async ({ id }): Promise<[string, number]> => {
      const lag = await bus.groupLag(groupOfSubscription(id), [topics.notifications]);
      return [id, lag.reduce((sum, { records }) => sum + records, 0)];
    });
    return { notify, behind: new Map(await Promise.all(lags)) };
  } finally {
    await bus.close();
  }
}

function list({ notify, behind }: Found, { json }: Values, { environment, print, write }: CommandContext): number {
  const isSet = (variable: string | undefined): boolean | null =>
    variable === undefined ? null : environment.secret(variable) !== undefined;
  const subscriptions = receiversOf(notify ?? undefined).map((receiver) => ({
    ...{ name: receiver.id, kind: receiver.kind, url: receiver.kind === 'webhook' ? receiver.url : null },
    ...{ events: receiver.events, tenants: receiver.tenants ?? null, outcomes: receiver.outcomes ?? null },
    include: receiver.kind === 'webhook' ? receiver.include : [],
    secret_is_set: isSet(secretsOf(receiver)[0]),
    previous_secret_is_set: isSet(secretsOf(receiver)[1]),
    behind: behind.get(receiver.id) ?? null,
  }));
  if (json) printJson({ print }, { subscriptions });
  else if (subscriptions.length === 0) write('There are no subscriptions: notify.subscriptions makes them.\n');
  else
    for (const one of subscriptions) {
      const far = one.behind === null ? '' : `; ${String(one.behind)} records behind`;
      const unset =
        one.secret_is_set === true && one.previous_secret_is_set !== false ? '' : '; a secret is not set here';
      print(
        `${one.name}  ${one.url === null ? one.kind : printable(one.url)}  ${one.events.join(', ')}${far}${unset}\n`,
      );
    }
  return 0;
}

/** The variables of what it is sent with, the present one first. */
function secretsOf(receiver: NotifyReceiver): readonly (string | undefined)[] {
  switch (receiver.kind) {
    case 'webhook':
      return [receiver.secretEnv, receiver.previousSecretEnv];
    case 'slack':
      return [receiver.tokenEnv];
    case 'mail':
      return [receiver.serverEnv];
  }
}

async function test(
  name: string,
  wanted: NotificationEvent | undefined,
  values: Values,
  context: CommandContext,
): Promise<number> {
  const { notify } = await found(values, context);
  const subscription = notify?.subscriptions.find(({ id }) => id === name);
  if (notify === null || subscription === undefined) throw new Error(unknown(name, notify?.subscriptions ?? []));
  const { write } = quietFor(values.json, context);
  const event = wanted ?? subscription.events[0] ?? 'run.ended';
  const tried = { subscription: name, event };
  try {
    const sender = { secret: context.environment.secret, now: Date.now(), signal: abortOn(context.stopped) };
    const { id, status } = await sendTrial(event, { notify, subscription }, sender);
    if (values.json) printJson(context, { ...tried, id, status, reason: null, message: null });
    write(`✓ ${printable(subscription.url)} took ${event} as ${id}: ${String(status)}.\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    const { failure: reason, message } = error;
    if (values.json) printJson(context, { ...tried, id: null, status: null, reason, message });
    write(`✗ ${message}\n`);
    return 1;
  }
}

function unknown(name: string, subscriptions: readonly NotifySubscription[]): string {
  const names = subscriptions.map(({ id }) => id);
  const close = nearest(name, names);
  const others = names.length === 0 ? 'notify.subscriptions makes them' : `there are ${names.join(', ')}`;
  return `There is no subscription ${printable(name)}; ${close === undefined ? others : `is ${close} meant?`}`;
}
