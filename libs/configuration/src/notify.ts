import {
  allApprovers,
  approvalTexts,
  connectionIdForm,
  faultCodes,
  includedTexts,
  isAnyApprover,
  matchesPattern,
  notificationEvents,
  personKind,
  quote,
  receiversOf,
  runErrors,
  secretVariables,
  sentenceList,
  suggestion,
} from '@sluice/core';
import type {
  Finding,
  MailReceiver,
  NotifyFilter,
  NotifySettings,
  NotifySubscription,
  Policy,
  SlackChannel,
} from '@sluice/core';
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

/** Of the rest of the file. */
interface Known {
  /** Names of agents. */
  readonly agents: readonly string[];
  /** Whether there is an `identity`, so that a service has a credential. */
  readonly hasIdentity: boolean;
  /** By which decisions are judged. */
  readonly policy: Policy;
}

/** `notify`: who is sent webhooks of what; null for no one. */
export function readNotify(section: Section, known: Known): NotifySettings | null {
  const { agents } = known;
  section.closed(configurationKeys.notify);
  const baseUrl = section.address('base_url');
  const privateHosts = section.names('private_hosts', 'a list of hosts') ?? [];
  privateHosts.forEach((one, at) => {
    if (!host.test(one))
      section.problem(section.itemAt('private_hosts', at), quote(one), 'a host such as `hooks.internal:8443`');
  });
  const written = section.section('subscriptions');
  const names: string[] = [];
  const subscriptions = readEach(written, names, (id, entry) => readSubscription(id, entry, privateHosts, agents));
  const slack = readEach(section.section('slack'), names, (id, entry) => readSlack(id, entry, privateHosts, known));
  const mail = readEach(section.section('mail'), names, (id, entry) => readMail(id, entry, agents));
  if (mail.length > 0 && baseUrl === null)
    section.problem(section.at('base_url'), 'nothing', 'the address of the console, which mails link to');
  if (names.length > mostSubscriptions)
    written.problem(written.path, `${String(names.length)} receivers`, `at most ${String(mostSubscriptions)}`);
  // Without receivers of its own it lets subscriptions be made over HTTP.
  if (section.keys().length === 0) return null;
  return {
    ...(baseUrl === null ? {} : { baseUrl: baseUrl.replace(/\/+$/, '') }),
    ...{ privateHosts, subscriptions },
    ...(slack.length === 0 ? {} : { slack }),
    ...(mail.length === 0 ? {} : { mail }),
  };
}

/** The entries of a section by their names, which are names of consumer groups: no two receivers have one. */
function readEach<T>(section: Section, names: string[], read: (id: string, entry: Section) => T | null): readonly T[] {
  return section.keys().flatMap((id) => {
    const entry = section.section(id);
    if (!connectionIdForm.test(id))
      section.problem(
        section.at(id),
        `the subscription ${quote(id)}`,
        'a name of 1 to 64 letters, digits, `_` and `-`',
      );
    if (names.includes(id)) section.problem(section.at(id), `the name ${quote(id)} once more`, 'another name');
    names.push(id);
    return entry.usable ? (read(id, entry) ?? []) : [];
  });
}

/** What the receivers of approvals are notified of. */
const approvalEvents = ['approval.waiting', 'approval.counted', 'approval.escalated', 'approval.ended'] as const;

const mailEvents = ['approval.waiting', 'approval.escalated'] as const;

function readSlack(
  id: string,
  section: Section,
  privateHosts: readonly string[],
  { agents, hasIdentity, policy }: Known,
): SlackChannel | null {
  section.closed(configurationKeys['notify.slack.<channel>']);
  const channel = section.text('channel', 'the id of a channel, such as `C0123456789`');
  if (!section.has('channel')) section.problem(section.at('channel'), 'nothing', 'the id of a channel');
  const tokenEnv = readVariable(section, 'token_env', 'the name of the variable with the bot’s token');
  if (!section.has('token_env'))
    section.problem(section.at('token_env'), 'nothing', 'the name of the variable with the bot’s token');
  const signingSecretEnv = readVariable(
    section,
    'signing_secret_env',
    'the name of the variable with the signing secret',
  );
  const credentialEnv = readVariable(
    section,
    'credential_env',
    'the name of the variable with the API key of a service',
  );
  const users = readSlackUsers(section);
  const isDeciding = ['signing_secret_env', 'credential_env', 'users'].filter((key) => section.has(key));
  if (isDeciding.length === 1 || isDeciding.length === 2)
    section.problem(
      section.path,
      isDeciding.join(' and '),
      'all of `signing_secret_env`, `credential_env` and `users`, for decisions in Slack, or none',
    );
  if (isDeciding.length > 0 && !hasIdentity)
    section.problem(
      section.path,
      'decisions in Slack without an `identity`, so that none would count',
      `\`identity: { provider: api-keys }\`, or \`jwt\`, for the key in \`credential_env\`; ${orLinksAlone}`,
    );
  else if (isDeciding.length === 3) refuseUncounted(section, Object.values(users), policy);
  const apiUrl = readSlackAddress(section, privateHosts);
  const events = oneOf(section, 'events', approvalEvents) ?? approvalEvents;
  const filters = readFilters(section, agents);
  const show = oneOf(section, 'show', approvalTexts) ?? approvalTexts;
  const seconds = section.wholeNumber('retry_seconds', retrySeconds);
  if (channel === null || tokenEnv === null) return null;
  return {
    ...{ id, channel, apiUrl, tokenEnv, events, show, retryMs: seconds * 1_000 },
    ...filters,
    ...(signingSecretEnv === null || credentialEnv === null
      ? {}
      : { deciding: { signingSecretEnv, credentialEnv, users } }),
  };
}

const orLinksAlone =
  'or leave out `signing_secret_env`, `credential_env` and `users`, and messages only link to the console';

/** Persons whose decisions the service of `credential_env`, whose name the file does not say, brings in vain. */
function refuseUncounted(section: Section, users: readonly string[], policy: Policy): void {
  const persons = [...new Set(users)].filter(isPerson);
  const patterns = Object.values(policy.decideFor ?? {}).flat();
  const barred = persons.filter((person) => !patterns.some((pattern) => matchesPattern(pattern, person)));
  if (barred.length > 0)
    section.problem(
      section.path,
      `decisions in Slack of ${sentenceList(barred, shownPersons)}, for whom \`policy.approval.on_behalf\` lets no service decide, so that none of them would count`,
      `\`on_behalf: { "service:slack": ["user:*"] }\` under \`policy.approval\`, with the name of the API key in \`credential_env\`; ${orLinksAlone}`,
    );
  const isApprover = (actorId: string): boolean => isAnyApprover({ actorId, tenantId: null }, policy);
  if (persons.length > 0 && allApprovers(policy).length > 0 && !persons.some(isApprover))
    section.problem(
      section.at('users'),
      'no person whom `policy.approval` names as an approver, so that no decision in Slack would count',
      'the persons under `policy.approval.approvers` by their names, or `["*"]`: of a person in Slack no groups, roles and claims are known',
    );
}

const shownPersons = 3;
const workspaceForm = /^[TE][A-Z0-9]{1,30}$/;
const userForm = /^[UW][A-Z0-9]{1,30}$/;

/** Persons by workspace and user, `T1/U1`. A user without a workspace is of the one that `team` names. */
function readSlackUsers(section: Section): Readonly<Record<string, string>> {
  const writeTeam = 'the id of a workspace, such as `T0123456789`';
  const team = section.text('team', writeTeam);
  if (team !== null && !workspaceForm.test(team)) section.problem(section.at('team'), quote(team), writeTeam);
  const users = section.section('users');
  const persons = new Map<string, string>();
  for (const key of users.keys()) {
    const person = users.text(key, 'a person such as `user:ann`') ?? '';
    if (person !== '' && !isPerson(person)) users.problem(users.at(key), quote(person), 'a person such as `user:ann`');
    const parts = key.split('/');
    const [user = '', workspace = team] = parts.toReversed();
    const isWell =
      parts.length <= 2 && userForm.test(user) && (parts.length === 1 || workspaceForm.test(parts[0] ?? ''));
    if (!isWell)
      users.problem(
        users.at(key),
        `the user ${quote(key)}`,
        'an id such as `U0123456789` or `T0123456789/U0123456789`',
      );
    else if (workspace === null)
      users.problem(
        users.at(key),
        `the user ${quote(key)} of no workspace`,
        `the workspace in \`team\`, or \`T…/${user}\``,
      );
    const known = `${String(workspace)}/${user}`;
    if (persons.has(known)) users.problem(users.at(key), `the user ${quote(known)} once more`, 'each user once');
    persons.set(known, person);
  }
  return Object.fromEntries(persons);
}

const linkSeconds = { byDefault: hours, least: 60, most: 24 * hours };
const mostAddresses = 50;
const mailAddress = /^[^\s@<>,;"]+@[A-Za-z0-9.-]+$/;

function readMail(id: string, section: Section, agents: readonly string[]): MailReceiver | null {
  section.closed(configurationKeys['notify.mail.<recipients>']);
  const write = 'an address such as `desk@example.org`';
  const from = section.text('from', write);
  if (from === null) section.problem(section.at('from'), 'nothing', write);
  else if (!mailAddress.test(from)) section.problem(section.at('from'), quote(from), write);
  const to = section.names('to', `a list of ${String(mostAddresses)} addresses at most`) ?? [];
  to.forEach((one, at) => {
    if (!mailAddress.test(one)) section.problem(section.itemAt('to', at), quote(one), write);
  });
  if (section.usable && (to.length === 0 || to.length > mostAddresses))
    section.problem(section.at('to'), `${String(to.length)} addresses`, `1 to ${String(mostAddresses)} addresses`);
  const serverEnv = readVariable(section, 'server_env', 'the name of the variable with the mail server’s address');
  const linkSecretEnv = readVariable(section, 'link_secret_env', 'the name of the variable with the secret of links');
  for (const key of ['server_env', 'link_secret_env'] as const)
    if (!section.has(key)) section.problem(section.at(key), 'nothing', 'the name of a variable');
  const events = oneOf(section, 'events', mailEvents) ?? mailEvents;
  const filters = readFilters(section, agents);
  const linkMs = section.wholeNumber('link_seconds', linkSeconds) * 1_000;
  const retryMs = section.wholeNumber('retry_seconds', retrySeconds) * 1_000;
  if (from === null || serverEnv === null || linkSecretEnv === null) return null;
  return {
    ...{ id, from, to, serverEnv, linkSecretEnv, linkMs, events, retryMs },
    ...filters,
  };
}

const slackAddress = 'https://slack.com/api/';

/** Another address than Slack’s own for its clouds of governments, and stand-ins. */
function readSlackAddress(section: Section, privateHosts: readonly string[]): string {
  const given = section.address('api_url');
  if (given === null || !URL.canParse(given)) return slackAddress;
  const { protocol, hostname, host: whole } = new URL(given);
  if (protocol === 'http:' && ![hostname, whole].some((one) => privateHosts.includes(one)))
    section.problem(
      section.at('api_url'),
      'an address without TLS',
      'an `https` address, or its host under notify.private_hosts',
    );
  return given.endsWith('/') ? given : `${given}/`;
}

function isPerson(name: string): boolean {
  return name.startsWith(personKind) && name.length > personKind.length;
}

/** Whose events a receiver is sent: `tenants` and `agents`, without those that are not written. */
function readFilters(section: Section, known: readonly string[]): Pick<NotifyFilter, 'tenants' | 'agents'> {
  const tenants = section.names('tenants', 'a list of tenants');
  const agents = oneOf(section, 'agents', known);
  return { ...(tenants === null ? {} : { tenants }), ...(agents === null ? {} : { agents }) };
}

function readSubscription(
  id: string,
  section: Section,
  privateHosts: readonly string[],
  agents: readonly string[],
): NotifySubscription | null {
  section.closed(configurationKeys['notify.subscriptions.<subscription>']);
  const url = readUrl(section, privateHosts);
  const events = oneOf(section, 'events', notificationEvents);
  if (!section.has('events'))
    section.problem(section.at('events'), 'nothing', `a list of ${notificationEvents.join(', ')}`);
  const secretEnv = readVariable(section, 'secret_env', 'the name of the environment variable that holds the secret');
  if (!section.has('secret_env'))
    section.problem(section.at('secret_env'), 'nothing', 'the name of the environment variable that holds the secret');
  const previous = readVariable(section, 'previous_secret_env', 'the name of the variable with the former secret');
  const filters = readFilters(section, agents);
  const named = oneOf(section, 'outcomes', outcomes);
  const include = oneOf(section, 'include', includedTexts) ?? [];
  const seconds = section.wholeNumber('retry_seconds', retrySeconds);
  if (url === null || events === null || secretEnv === null) return null;
  return {
    ...{ id, url, events, secretEnv, include, retryMs: seconds * 1_000 },
    ...filters,
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
  return receiversOf(notify ?? undefined).flatMap((receiver) => {
    const place = { webhook: 'subscriptions', slack: 'slack', mail: 'mail' }[receiver.kind];
    return Object.entries(secretVariables(receiver)).flatMap(([key, variable]): Finding[] => {
      if (given.isSet?.(variable) ?? true) return [];
      const message = `The variable ${variable} is not set here: where the notifier has none either, nothing is sent.`;
      return [{ kind: 'unset_variable', path: `notify.${place}.${receiver.id}.${key}`, message }];
    });
  });
}
