import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { signers } from '@sluice/core';
import { keysFor, newKeySet, readKeySet, rotate, verifyingRoles, writeKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { createKeyFile, keyFile, makeFolder, replaceKeyFile } from '@sluice/host';
import { readText } from '../read-text.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { run as runApi, usage as apiUsage } from './keys-api.js';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice keys new [FILE] [--json]    makes the keys that services sign with, and the one for configurations
sluice keys list [FILE] [--json]   what there is, without the private parts
sluice keys rotate [FILE] [--json] makes the next keys sign; the previous keys still verify, older ones do not
sluice keys export ROLE [FILE] [--json]
                                   prints what a process of the role needs: all public keys, and private ones of that role alone,
                                     of the executor those with which it signs calls without a model too;
                                   ROLE is filter, agent, executor, audit, config (for sluice config apply), auditor, gateway, proxy,
                                     mcp or notifier
  FILE is the one that SLUICE_KEYS_FILE names, else keys.json in the data folder. docs/security.md says how to rotate.
  --json prints {file, keys} with {kid, status, created_at, private} of each key; for export the keys in one line.
${apiUsage}`;

/** For API keys; those of signatures take --json alone. */
const options = {
  tenant: { type: 'string' },
  groups: { type: 'string' },
  connections: { type: 'string' },
  expires: { type: 'string' },
  overlap: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

/** What a process may be; the keys for calls go with those of the executor. */
const roles = [...signers.filter((role) => role !== 'call'), ...verifyingRoles] as const;

export function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [action, ...rest] = positionals;
  if (action === 'api') return runApi(rest, values, surroundings);
  const { environment, print } = surroundings;
  const takes = (words: number): void => refuseSurplus({ values, words: rest }, { taken: ['json'], words }, usage);
  const said = quietFor(values.json, surroundings);
  const listed = (path: string, set: KeySet): void => {
    list(set, said);
    if (values.json) printJson(surroundings, { file: path, keys: keysOf(set).map(keyJson) });
  };
  const file = (named: string | undefined): string => named ?? keyFile(environment);
  switch (action) {
    case 'new':
      takes(1);
      listed(file(rest[0]), make(file(rest[0]), said));
      break;
    case 'list':
      takes(1);
      listed(file(rest[0]), read(file(rest[0])));
      break;
    case 'rotate':
      takes(1);
      listed(file(rest[0]), rotateFile(file(rest[0]), said));
      break;
    case 'export':
      takes(2);
      print(exported(keysFor(roleOf(rest[0]), read(file(rest[1]))), values.json));
      break;
    case undefined:
    default:
      throw new Error(`${sayWhat('keys', action)}\n${usage}`);
  }
  return Promise.resolve(0);
}

function make(file: string, surroundings: CommandContext): KeySet {
  if (existsSync(file))
    throw new Error(`${file} is there already. Rotate its keys with \`sluice keys rotate\`, or name another file.`);
  const set = newKeySet(Date.now());
  makeFolder(dirname(file));
  createKeyFile(file, set);
  surroundings.write(`${file} holds new keys; keep it from everybody else.\n`);
  return set;
}

function rotateFile(file: string, surroundings: CommandContext): KeySet {
  const set = rotate(read(file), Date.now());
  replaceKeyFile(file, set);
  surroundings.write(
    'Restart the processes, one after another and within the hour, so that they sign with the new keys.\n',
  );
  return set;
}

function keysOf({ keys, sealing = [] }: KeySet) {
  return [...keys, ...sealing];
}

function keyJson({ kid, status, createdAt, d }: ReturnType<typeof keysOf>[number]): object {
  return { kid, status, created_at: createdAt, private: d !== null };
}

function exported(set: KeySet, json: boolean): string {
  const text = writeKeySet(set);
  return json ? `${JSON.stringify(JSON.parse(text))}\n` : text;
}

function list(set: KeySet, { write, paint }: CommandContext): void {
  for (const { kid, status, createdAt, d } of keysOf(set)) {
    const mark = status === 'signing' ? paint.good(status.padEnd(9)) : status.padEnd(9);
    write(`${kid.padEnd(26)}  ${mark}  ${createdAt}${d === null ? '' : '  with its private key'}\n`);
  }
}

function read(file: string): KeySet {
  if (!existsSync(file)) throw new Error(`${file} is not there. Make it with \`sluice keys new\`, or name the file.`);
  return readKeySet(readText(file), file);
}

function roleOf(name: string | undefined): (typeof roles)[number] {
  const role = roles.find((one) => one === name);
  if (role === undefined) throw new Error(`Name the role: ${roles.join(', ')}.\n${usage}`);
  return role;
}
