import {
  connectionIdForm,
  faultCodes,
  includedTexts,
  notificationEvents,
  quote,
  runErrors,
  suggestion,
} from '@sluice/core';
import type { Finding, NotifySettings, NotifySubscription } from '@sluice/core';
import { readVariable } from './connections.js';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';

const hours = 3_600;
const retrySeconds = { byDefault: 24 * hours, least: 1, most: 7 * 24 * hours };
/** Each is a consumer of its own. */
const mostSubscriptions = 50;
/** What the events end with; `answer` and `incomplete` are of runs, the next four of approvals. */
const outcomes = [
  ...['answer', 'incomplete', 'approve', 'refuse', 'expire', 'run'],
  ...Object.keys(runErrors),
  ...Object.keys(faultCodes),
];
const host = /^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-fA-F:]+\](:\d{1,5})?$/;

/** `notify`: who is sent webhooks of what; null for no one. */
export function readNotify(section: Section): NotifySettings | null {
  section.closed(configurationKeys.notify);
  const baseUrl = section.address('base_url');
  const privateHosts = section.names('private_hosts', 'a list of hosts') ?? [];
  privateHosts.forEach((one, at) => {
    if (!host.test(one))
      section.problem(section.itemAt('private_hosts', at), quote(one), 'a host such as `hooks.internal:8443`');
  });
  const written = section.section('subscriptions');
  const ids = written.keys();
  if (ids.length > mostSubscriptions)
    written.problem(written.path, `${String(ids.length)} subscriptions`, `at most ${String(mostSubscriptions)}`);
  const subscriptions = ids.flatMap((id) => {
    const entry = written.section(id);
    if (!connectionIdForm.test(id))
      written.problem(
        written.at(id),
        `the subscription ${quote(id)}`,
        'a name of 1 to 64 letters, digits, `_` and `-`',
      );
    return entry.usable ? (readSubscription(id, entry, privateHosts) ?? []) : [];
  });
  if (subscriptions.length === 0) return null;
  return { ...(baseUrl === null ? {} : { baseUrl: baseUrl.replace(/\/+$/, '') }), privateHosts, subscriptions };
}

function readSubscription(id: string, section: Section, privateHosts: readonly string[]): NotifySubscription | null {
  section.closed(configurationKeys['notify.subscriptions.<subscription>']);
  const url = readUrl(section, privateHosts);
  const events = oneOf(section, 'events', notificationEvents);
  if (!section.has('events'))
    section.problem(section.at('events'), 'nothing', `a list of ${notificationEvents.join(', ')}`);
  const secretEnv = readVariable(section, 'secret_env', 'the name of the environment variable that holds the secret');
  if (!section.has('secret_env'))
    section.problem(section.at('secret_env'), 'nothing', 'the name of the environment variable that holds the secret');
  const previous = readVariable(section, 'previous_secret_env', 'the name of the variable with the former secret');
  const tenants = section.names('tenants', 'a list of tenants');
  const named = oneOf(section, 'outcomes', outcomes);
  const include = oneOf(section, 'include', includedTexts) ?? [];
  const seconds = section.wholeNumber('retry_seconds', retrySeconds);
  if (url === null || events === null || secretEnv === null) return null;
  return {
    ...{ id, url, events, secretEnv, include, retryMs: seconds * 1_000 },
    ...(tenants === null ? {} : { tenants }),
    ...(named === null ? {} : { outcomes: named }),
    ...(previous === null ? {} : { previousSecretEnv: previous }),
  };
}

/** What is sent in the clear stays within one's own network. */
function readUrl(section: Section, privateHosts: readonly string[]): string | null {
  const write = 'the address that takes the webhooks, such as `https://hooks.example.org/sluice`';
  if (!section.has('url')) section.problem(section.at('url'), 'nothing', write);
  const url = section.address('url');
  if (url === null || !URL.canParse(url)) return url === null ? null : section.refuse('url', write);
  const { protocol, hostname, host: whole } = new URL(url);
  const isNamed = privateHosts.some((one) => [hostname, whole, `${hostname}:80`].includes(one.toLowerCase()));
  if (protocol === 'http:' && !isNamed) {
    const remedy = 'an `https` address, or its host under notify.private_hosts';
    section.problem(section.at('url'), 'an address without TLS that is not within your network', remedy);
  }
  return url;
}

function oneOf<T extends string>(section: Section, key: string, known: readonly T[]): readonly T[] | null {
  const names = section.names(key, `a list of ${known.slice(0, 8).join(', ')}`);
  if (names === null) return null;
  return names.flatMap((name, at) => {
    const found = known.find((one) => one === name);
    if (found === undefined) section.problem(section.itemAt(key, at), quote(name), suggestion(name, known));
    return found ?? [];
  });
}

/** The notifier may have what is missing here, so it is no mistake. */
export function findAboutNotify(
  notify: NotifySettings | null,
  given: { isSet?(variable: string): boolean },
): readonly Finding[] {
  return (notify?.subscriptions ?? []).flatMap(({ id, secretEnv, previousSecretEnv }) => {
    const named = { secret_env: secretEnv, previous_secret_env: previousSecretEnv };
    return Object.entries(named).flatMap(([key, variable]): Finding[] => {
      if (variable === undefined || (given.isSet?.(variable) ?? true)) return [];
      const message = `The variable ${variable} is not set here: where the notifier has none either, nothing is sent.`;
      return [{ kind: 'unset_variable', path: `notify.subscriptions.${id}.${key}`, message }];
    });
  });
}
