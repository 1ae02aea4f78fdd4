import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { nearest, notificationEvents, printable, suggestion } from '@sluice/core';
import type { NotificationEvent, NotifyReceiver, NotifySettings } from '@sluice/core';
import { DeliveryError } from '../../../notifier/src/senders/sender.js';
import { tryMail, trySlack, tryWebhook } from '../../../notifier/src/trial.js';
import type { Trial } from '../../../notifier/src/trial.js';
import { abortOn } from '../abort-on.js';
import { printJson, quietFor } from '../json-answer.js';
import { receiversFound, unsetVariables } from '../notify/receivers.js';
import type { ListedReceiver } from '../notify/receivers.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice notify list [--config FILE] [--json]
  Lists the receivers of the configuration in force and those that were made over HTTP, or the receivers of FILE: where webhooks,
  messages and mails go, of which events, which variables of their secrets are not set here, and how many records their deliveries
  are behind. --json prints {subscriptions}.
sluice notify test NAME [--event run.ended] [--config FILE] [--json]
  Tries a receiver from here, with the secrets that are set here: sends a subscription one event that did not happen, posts a message
  that asks for nothing in a channel of Slack, or mails each address that nothing waits. Exit code 1 if it is not taken. --json
  prints {subscription, kind, event, id, status, reason, message}.
sluice notify secret [--json]
  Prints a new secret for the variable that secret_env names. --json prints {secret}.`;

const options = {
  config: { type: 'string' },
  event: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [action, ...words] = positionals;
  switch (action) {
    case 'list':
      refuseSurplus({ values, words }, { taken: ['config', 'json'], words: 0 }, usage);
      return list((await receiversFound(values.config, context)).all, values, context);
    case 'test': {
      refuseSurplus({ values, words }, { taken: ['config', 'event', 'json'], words: 1 }, usage);
      const [name] = words;
      if (name === undefined) throw new Error(`Name a receiver.\n${usage}`);
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

function list(all: readonly ListedReceiver[], { json }: Values, { environment, print, write }: CommandContext): number {
  const subscriptions = all.map(({ name, madeBy, receiver, behind }) => ({
    ...{ name, id: receiver.id, kind: receiver.kind, made_by: madeBy },
    ...{ url: receiver.kind === 'webhook' ? receiver.url : null, events: receiver.events },
    ...{ tenants: receiver.tenants ?? null, agents: receiver.agents ?? null, outcomes: receiver.outcomes ?? null },
    include: receiver.kind === 'webhook' ? receiver.include : [],
    unset: unsetVariables(receiver, environment.secret),
    behind,
  }));
  if (json) printJson({ print }, { subscriptions });
  else if (subscriptions.length === 0)
    write('There are no receivers: notify.subscriptions, slack and mail make them.\n');
  else
    for (const { name, kind, made_by, url, events, unset, behind } of subscriptions) {
      const where = url === null ? kind : printable(url);
      const notes = [
        ...(made_by === 'http' ? ['made over HTTP'] : []),
        ...(behind === null ? [] : [`${String(behind)} records behind`]),
        ...(unset.length === 0 ? [] : [`not set here: ${unset.join(', ')}`]),
      ];
      print(`${name}  ${where}  ${events.join(', ')}${notes.map((note) => `; ${note}`).join('')}\n`);
    }
  return 0;
}

async function test(
  name: string,
  wanted: NotificationEvent | undefined,
  values: Values,
  context: CommandContext,
): Promise<number> {
  const { notify, all } = await receiversFound(values.config, context);
  const found = all.find((one) => one.name === name || one.receiver.id === name);
  if (notify === null || found === undefined) throw new Error(unknown(name, all));
  const { receiver } = found;
  const { kind } = receiver;
  if (wanted !== undefined && kind !== 'webhook')
    throw new Error(`--event is for webhooks: ${name} is of ${kind === 'slack' ? 'Slack' : 'mail'}. Leave it out.`);
  const event = kind === 'webhook' ? (wanted ?? receiver.events[0] ?? 'run.ended') : null;
  const { write } = quietFor(values.json, context);
  const tried = { subscription: name, kind, event };
  try {
    const { id, status, to } = await trial(receiver, event, notify, context);
    if (values.json) printJson(context, { ...tried, id, status, reason: null, message: null });
    write(`✓ ${takenBy(receiver, { id, status, to }, event)}\n`);
    // What is tried is the notifier’s part.
    const unset = unsetVariables(receiver, context.environment.secret);
    if (unset.length > 0) write(`  Not set here, and needed by the gateway for decisions: ${unset.join(', ')}.\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    const { failure: reason, message } = error;
    if (values.json) printJson(context, { ...tried, id: null, status: null, reason, message });
    write(`✗ ${printable(message)}\n`);
    return 1;
  }
}

function trial(
  receiver: NotifyReceiver,
  event: NotificationEvent | null,
  notify: NotifySettings,
  { environment, stopped }: CommandContext,
): Promise<Trial> {
  const sender = { notify, secret: environment.secret, now: Date.now(), signal: abortOn(stopped) };
  switch (receiver.kind) {
    case 'webhook':
      return tryWebhook(event ?? 'run.ended', receiver, sender);
    case 'slack':
      return trySlack(receiver, sender);
    case 'mail':
      return tryMail(receiver, sender);
  }
}

function takenBy({ kind }: NotifyReceiver, { id, status, to }: Trial, event: NotificationEvent | null): string {
  switch (kind) {
    case 'webhook':
      return `${printable(to)} took ${String(event)} as ${id}: ${String(status)}.`;
    case 'slack':
      return `Slack took a message in ${printable(to)}, and the bot may read there.`;
    case 'mail':
      return `The mail server took a mail to ${printable(to)}.`;
  }
}

function unknown(name: string, all: readonly ListedReceiver[]): string {
  const names = all.map((one) => one.name);
  const close = nearest(name, names);
  const others =
    names.length === 0 ? 'notify.subscriptions, slack and mail make them' : `there are ${names.join(', ')}`;
  return `There is no receiver ${printable(name)}; ${close === undefined ? others : `is ${close} meant?`}`;
}
