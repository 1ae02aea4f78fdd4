import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dataFiles, prepareDataFolder } from './data-folder.js';
import type { Environment } from './environment.js';
import { LocalSecret } from './local-secret.js';
import { ensurePrivate } from './private-files.js';

/** Holds the secret, or with _FILE behind it names the file that does. */
const variable = 'SLUICE_LOCAL_SECRET';
const shortest = 32;
const longest = 512;

type Surroundings = Pick<Environment, 'bus' | 'dataFolder' | 'secret'>;

/**
 * The secret that is given, else that of the data folder, made on first run; on Kafka none where none is given.
 * Throws a sentence for one that cannot be used.
 */
export function openLocalSecret(environment: Surroundings): LocalSecret {
  return new LocalSecret(givenSecret(environment) ?? ownSecret(environment));
}

/**
 * What a program on this machine sends as its bearer token where no identity is configured; undefined where no
 * process has made one.
 */
export function readLocalSecret(environment: Surroundings): string | undefined {
  const given = givenSecret(environment);
  if (given !== undefined || environment.bus === 'kafka') return given;
  const file = dataFiles(environment).localSecret;
  return existsSync(file) ? readSecret(file) : undefined;
}

function givenSecret({ secret }: Pick<Surroundings, 'secret'>): string | undefined {
  const given = secret(variable);
  return given === undefined ? undefined : checked(given, variable);
}

function readSecret(file: string): string {
  return checked(readFileSync(file, 'utf8').trim(), `The file ${file}`);
}

function checked(secret: string, where: string): string {
  const isUsable = /^[\x21-\x7e]+$/.test(secret) && secret.length >= shortest && secret.length <= longest;
  if (isUsable) return secret;
  throw new Error(
    `${where} must hold ${shortest} to ${longest} printable ASCII characters without spaces, such as what \`openssl rand -hex 32\` prints.`,
  );
}

function ownSecret(environment: Surroundings): string | null {
  if (environment.bus === 'kafka') return null;
  const file = dataFiles(environment).localSecret;
  prepareDataFolder(environment.dataFolder);
  if (!existsSync(file)) ensurePrivate(file, `local_${randomBytes(32).toString('base64url')}\n`);
  return readSecret(file);
}
