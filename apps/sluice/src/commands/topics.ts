import { parseArgs } from 'node:util';
import { access, allTopics, groupOfSubscription, recordNames, services } from '@sluice/contracts';
import type { Access, Role, Topic } from '@sluice/contracts';
import { openBus } from '@sluice/host';
import type { Environment, Kept } from '@sluice/host';
import { refuseSurplus } from '../refuse-surplus.js';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

/** The units that SLUICE_RETENTION can be written in, the largest first. */
const ages = { d: 86_400_000, h: 3_600_000, min: 60_000 };
const sizes = { TB: 1024 ** 4, GB: 1024 ** 3, MB: 1024 ** 2 };

export const usage = `sluice topics [--check | --apply | --acls [--principal NAME]] [--json]
  Lists the topics, who reads and writes them, and how long they are kept. --check asks the broker for the settings of the
  topics that are there, prints them, and says which are not as they must be; the exit code is 1 where rights or data are in
  danger. --apply gives topics that are there the retention that SLUICE_RETENTION_HOURS and SLUICE_RETENTION name, since only
  new ones are created with it. --acls prints the kafka-acls.sh commands that give each role exactly what it needs; the
  principals are User:sluice-filter and so on, or NAME-filter with --principal NAME.
  --json prints {topics} with {topic, record, written_by, read_by, kept_ms, kept_bytes} of each; with --check {topics, findings}, with
  --apply {changed} and with --acls {commands}.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { environment, write, print } = surroundings;
  const { values } = parseArgs({
    args: [...args],
    options: {
      acls: { type: 'boolean', default: false },
      apply: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      principal: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const taken = values.acls ? ['acls', 'principal'] : values.check ? ['check'] : ['apply'];
  const said = quietFor(values.json, surroundings);
  refuseSurplus({ values, words: [] }, { taken: [...taken, 'json'], words: 0 }, usage);
  const prefix = environment.kafka?.prefix ?? '';
  const commands = acls(prefix, values.principal ?? 'User:sluice');
  if (values.acls && values.json)
    printJson(surroundings, { commands: commands.filter((line) => !line.startsWith('#')) });
  else if (values.acls) for (const line of commands) print(`${line}\n`);
  else if (values.check) return check(values.json, said);
  else if (values.apply) await apply(values.json, said);
  else if (values.json) printJson(surroundings, { topics: allTopics.map((topic) => topicJson(topic, environment)) });
  else for (const line of listing(prefix, environment)) write(`${line}\n`);
  return 0;
}

/** What is shown of each topic. */
const shown = [
  'message.timestamp.type',
  'cleanup.policy',
  'max.message.bytes',
  'compression.type',
  'retention.ms',
  'retention.bytes',
] as const;

async function check(json: boolean, { environment, log, print, write }: CommandContext): Promise<number> {
  const { bus, findings, topicsThere } = await openBus(environment, log);
  try {
    for (const [topic, { settings, partitions }] of topicsThere()) {
      const values = shown.map((setting) => `${setting}=${settings.get(setting) ?? 'unknown'}`);
      write(`${environment.kafka?.prefix ?? ''}${topic}: partitions=${partitions} ${values.join(' ')}\n`);
    }
    const found = findings();
    const there = [...topicsThere()].map(([topic, { settings, partitions }]) => ({
      ...{ topic: `${environment.kafka?.prefix ?? ''}${topic}`, partitions },
      settings: Object.fromEntries(shown.map((setting) => [setting, settings.get(setting) ?? null])),
    }));
    if (json) printJson({ print }, { topics: there, findings: found });
    for (const { sentence, endangers } of found) write(`${endangers ? '✗' : '!'} ${sentence}\n`);
    if (environment.kafka === null) write('The embedded log has no settings to check.\n');
    else if (topicsThere().size === 0)
      write('This user may not see the settings. Allow it DescribeConfigs on the topics.\n');
    else if (found.length === 0) write('✓ All topics are as they must be.\n');
    return found.some(({ endangers }) => endangers) ? 1 : 0;
  } finally {
    await bus.close();
  }
}

async function apply(json: boolean, { environment, log, print, write }: CommandContext): Promise<void> {
  const { bus, applyRetention } = await openBus(environment, log);
  try {
    const changed = await applyRetention();
    if (json) printJson({ print }, { changed });
    for (const line of changed) write(`${line}\n`);
    if (changed.length === 0) write('All topics are kept as they should be.\n');
  } finally {
    await bus.close();
  }
}

function topicJson(topic: Topic, { kafka, retention }: Environment): object {
  const roles = Object.entries(access) as [Role, Access][];
  const who = (kind: 'reads' | 'writes') =>
    roles.filter(([, rights]) => rights[kind].includes(topic)).map(([role]) => role);
  const { ms, bytes } = retention[topic];
  return {
    ...{
      topic: `${kafka?.prefix ?? ''}${topic}`,
      record: recordNames[topic],
      written_by: who('writes'),
      read_by: who('reads'),
    },
    ...{ kept_ms: ms === -1 ? null : ms, kept_bytes: bytes },
  };
}

function listing(prefix: string, { retention }: Environment): readonly string[] {
  const roles = Object.entries(access) as [Role, Access][];
  return allTopics.map((topic) => {
    const who = (kind: 'reads' | 'writes') =>
      roles.filter(([, rights]) => rights[kind].includes(topic)).map(([role]) => role);
    const name = `${prefix}${topic}`.padEnd(prefix.length + 20);
    return `${name} ${recordNames[topic].padEnd(16)} written by ${who('writes').join(', ') || '-'}; read by ${who('reads').join(', ') || '-'}; kept ${keptFor(retention[topic])}`;
  });
}

function keptFor({ ms, bytes }: Kept): string {
  const age = ms === -1 ? 'for ever' : `for ${inUnits(ms, ages)}`;
  return bytes === null ? age : `${age}, up to ${inUnits(bytes, sizes)}`;
}

/** In the largest unit that says it exactly; all that can be written is a multiple of the smallest. */
function inUnits(quantity: number, units: Readonly<Record<string, number>>): string {
  const [unit, size] = Object.entries(units).find(([, one]) => quantity % one === 0) as [string, number];
  return `${(quantity / size).toLocaleString('en')} ${unit}`;
}

const groups = Object.values<Access>(access).flatMap(({ group }) =>
  group === null || group === 'audit' ? [] : [group],
);

/** Least privilege, role by role: topics, the group, transactional ids, and creating topics that are absent. */
function acls(prefix: string, principal: string): readonly string[] {
  return (Object.entries(access) as [Role, Access][]).flatMap(([role, { reads, writes, group }]) => {
    const add = `kafka-acls.sh --bootstrap-server "$KAFKA_BROKERS" --add --allow-principal ${principal}-${role}`;
    const topics = (names: readonly string[]): string => names.map((name) => `--topic ${prefix}${name}`).join(' ');
    const lines = [
      `${add} --operation Read --operation Describe ${topics(reads)}`,
      ...(writes.length === 0 ? [] : [`${add} --operation Write --operation Describe ${topics(writes)}`]),
    ];
    if (role === 'upstream') return [`# ${role}`, ...lines];
    // Opening the log checks which topics there are, and that agent.config has one partition.
    const look = `${add} --operation Describe ${topics(allTopics)}`;
    if (writes.length === 0) return [`# ${role}`, ...lines, look];
    // Apart from looking, so that it can be left out.
    lines.push(look, `${add} --operation Create ${topics(allTopics)}`);
    const writer = `${prefix}${group ?? 'publish'}.`;
    lines.push(
      `${add} --operation Write --operation Describe --transactional-id ${writer} --resource-pattern-type prefixed`,
    );
    if (group !== null) lines.push(`${add} --operation Read --group ${prefix}${group}`);
    // Each subscription has a group of its own, whose name begins with that.
    const subscriptions = `${prefix}${groupOfSubscription('')} --resource-pattern-type prefixed`;
    if (role === 'notifier') lines.push(`${add} --operation Read --group ${subscriptions}`);
    // The audit exports the lag of all groups, and a gateway shows it to operators.
    if (role === 'audit' || role === 'gateway')
      for (const other of role === 'audit' ? groups : [...groups, 'audit'])
        lines.push(`${add} --operation Describe --group ${prefix}${other}`);
    // How far behind each receiver is: at a gateway, and by `sluice notify list`.
    if (role === 'gateway' || role === 'operator') lines.push(`${add} --operation Describe --group ${subscriptions}`);
    if ((services as readonly Role[]).includes(role)) {
      // For the warning at start: how long the broker remembers where a group has read.
      lines.push(`${add} --operation DescribeConfigs --cluster`);
      lines.push(`${add} --operation DescribeConfigs ${topics(allTopics)}`);
    }
    return [`# ${role}`, ...lines];
  });
}
