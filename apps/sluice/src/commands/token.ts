import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { trialIssuer } from '@sluice/identity';
import type { TrialIssuer } from '@sluice/identity';
import { prepareDataFolder, systemClock } from '@sluice/host';
import { readSpan } from '../read-span.js';
import { readText } from '../read-text.js';
import { printJson } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice token --tenant TENANT --groups GROUP,… [--user NAME] [--expires 1h] [--json]
  Prints a JWT for trials, as an identity provider would issue it to this user (trial unless named). On first use it makes the
  key pair of a trial issuer in the data folder, and says which identity to write into the configuration so that its tokens are
  accepted. The holder of that key can sign in as anyone: use a real issuer before others can reach the services.
  --json prints {token, expires_at}.`;

const issuerName = 'https://trial.invalid';

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tenant: { type: 'string' },
      groups: { type: 'string' },
      user: { type: 'string' },
      expires: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { tenant, groups } = values;
  if (tenant === undefined || tenant === '' || groups === undefined)
    throw new Error(`Name the tenant and the groups.\n${usage}`);
  const lifeMs = readSpan('--expires', values.expires ?? '1h');
  const issuer = await issuerIn(surroundings);
  const claims = {
    ...{ iss: issuerName, aud: 'sluice', sub: values.user ?? 'trial', tenant },
    tool_groups: groups.split(',').filter((name) => name !== ''),
  };
  const expiresAt = systemClock.now() + lifeMs;
  const token = await issuer.token(claims, expiresAt);
  if (values.json) printJson(surroundings, { token, expires_at: new Date(expiresAt).toISOString() });
  else surroundings.print(`${token}\n`);
  return 0;
}

async function issuerIn({ environment, note }: CommandContext): Promise<TrialIssuer> {
  const { dataFolder } = environment;
  const secretFile = join(dataFolder, 'trial-issuer.json');
  const publicFile = join(dataFolder, 'trial-issuer-public.json');
  if (existsSync(secretFile)) {
    const text = readText(secretFile);
    return trialIssuer(text).catch(() => {
      throw new Error(`${secretFile} holds no key of a trial issuer. Remove it, and the next token makes a new one.`);
    });
  }
  prepareDataFolder(dataFolder);
  const issuer = await trialIssuer(null);
  writeFileSync(secretFile, issuer.privateText, { mode: 0o600, flag: 'wx' });
  writeFileSync(publicFile, issuer.publicText);
  const settings = `provider: jwt, issuer: "${issuerName}", key_file: ${JSON.stringify(publicFile)}`;
  note(`Its tokens are accepted with this in the configuration:\nidentity: { ${settings} }\n`);
  return issuer;
}
