import { parseArgs } from 'node:util';
import { access, allTopics, recordNames } from '@sluice/contracts';
import type { Access, Role } from '@sluice/contracts';
import type { Surroundings } from './surroundings.js';

export const usage = `sluice topics [--acls [--principal NAME]]
  Lists the topics and who reads and writes them. --acls prints the kafka-acls.sh commands that give each role exactly what it
  needs; the principals are User:sluice-filter and so on, or NAME-filter with --principal NAME.`;

export async function run(args: readonly string[], { environment, write }: Surroundings): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { acls: { type: 'boolean', default: false }, principal: { type: 'string', default: 'User:sluice' } },
  });
  const prefix = environment.kafka?.prefix ?? '';
  if (values.acls) for (const line of acls(prefix, values.principal)) write(`${line}\n`);
  else for (const line of listing(prefix)) write(`${line}\n`);
  return 0;
}

function listing(prefix: string): readonly string[] {
  const roles = Object.entries(access) as [Role, Access][];
  return allTopics.map((topic) => {
    const who = (kind: 'reads' | 'writes') =>
      roles.filter(([, rights]) => rights[kind].includes(topic)).map(([role]) => role);
    const name = `${prefix}${topic}`.padEnd(prefix.length + 20);
    return `${name} ${recordNames[topic].padEnd(16)} written by ${who('writes').join(', ') || '-'}; read by ${who('reads').join(', ') || '-'}`;
  });
}

/** Least privilege, role by role: topics, the group, transactional ids, and creating topics that are absent. */
function acls(prefix: string, principal: string): readonly string[] {
  return (Object.entries(access) as [Role, Access][]).flatMap(([role, { reads, writes, group }]) => {
    const add = `kafka-acls.sh --bootstrap-server "$KAFKA_BROKERS" --add --allow-principal ${principal}-${role}`;
    const topics = (names: readonly string[]): string => names.map((name) => `--topic ${prefix}${name}`).join(' ');
    const lines = [
      `${add} --operation Read --operation Describe ${topics(reads)}`,
      ...(writes.length === 0 ? [] : [`${add} --operation Write --operation Describe ${topics(writes)}`]),
    ];
    if (role === 'upstream' || writes.length === 0) return [`# ${role}`, ...lines];
    lines.push(`${add} --operation Create ${topics(allTopics)}`);
    const writer = `${prefix}${group ?? 'publish'}.`;
    lines.push(
      `${add} --operation Write --operation Describe --transactional-id ${writer} --resource-pattern-type prefixed`,
    );
    if (group !== null) lines.push(`${add} --operation Read --group ${prefix}${group}`);
    return [`# ${role}`, ...lines];
  });
}
