import { printable } from '@sluice/core';
import { ApiKeys } from '@sluice/identity';
import type { ApiKey } from '@sluice/identity';
import { openLedger, prepareDataFolder, requireSharedLedger, systemClock } from '@sluice/host';
import { readSpan } from '../read-span.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { printJson } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice keys api new NAME --tenant TENANT --groups GROUP,… [--connections ID,…] [--expires 90d] [--json]
                                   makes an API key for service:NAME and prints it, once: the ledger keeps only its hash
sluice keys api list [--json]      the API keys: whose they are, what they permit, when they end and when they were last used
sluice keys api rotate ID [--overlap 24h] [--json]
                                   makes a key in place of this one, which is accepted for the overlap and not longer
sluice keys api revoke ID [--json] ends an API key at once, everywhere
  With --json new and rotate print {id, name, tenant, expires_at, token}, list {keys}, and revoke {id, status}: revoked, or revoked_before.`;

/** What the command line gives for API keys. */
export interface ApiKeyOptions {
  readonly tenant?: string | undefined;
  readonly groups?: string | undefined;
  readonly connections?: string | undefined;
  readonly expires?: string | undefined;
  readonly overlap?: string | undefined;
  readonly json: boolean;
}

/** As in a principal: letters, digits and what names of services have. */
const nameForm = /^[\w.@-]{1,128}$/;

export async function run(
  words: readonly string[],
  values: ApiKeyOptions,
  surroundings: CommandContext,
): Promise<number> {
  const [action, ...rest] = words;
  const takes = (count: number, ...taken: readonly string[]): void =>
    refuseSurplus({ values: { ...values }, words: rest }, { taken, words: count }, usage);
  switch (action) {
    case 'new': {
      takes(1, 'tenant', 'groups', 'connections', 'expires', 'json');
      const { tenant, groups } = values;
      const name = rest[0];
      if (name === undefined || tenant === undefined || tenant === '' || groups === undefined)
        throw new Error(`Say for whom the key is, in which tenant, and for which groups.\n${usage}`);
      if (!nameForm.test(name))
        throw new Error(`The name is "${printable(name)}"; write letters, digits and . _ @ - alone.`);
      const lifeMs = readSpan('--expires', values.expires ?? '90d');
      const scope = { name, tenant, groups: namesOf(groups), connections: namesOf(values.connections ?? '') };
      return withKeys(surroundings, async (keys) => {
        const now = systemClock.now();
        show(await keys.create({ ...scope, expiresAt: now + lifeMs }, now), values.json, surroundings);
      });
    }
    case 'list':
      takes(0, 'json');
      return withKeys(surroundings, (keys) => list(keys, values.json, surroundings));
    case 'rotate': {
      takes(1, 'overlap', 'json');
      const id = idOf(rest[0]);
      const overlapMs = readSpan('--overlap', values.overlap ?? '24h');
      return withKeys(surroundings, async (keys) =>
        show(await keys.rotate(id, overlapMs, systemClock.now()), values.json, surroundings),
      );
    }
    case 'revoke': {
      takes(1, 'json');
      const id = idOf(rest[0]);
      return withKeys(surroundings, async (keys) => {
        const isNew = await keys.revoke(id, systemClock.now());
        if (values.json) return printJson(surroundings, { id, status: isNew ? 'revoked' : 'revoked_before' });
        surroundings.write(
          isNew ? `The API key ${id} is accepted no longer.\n` : `The API key ${id} was revoked before.\n`,
        );
      });
    }
    case undefined:
    default:
      throw new Error(`${sayWhat('API keys', action)}\n${usage}`);
  }
}

async function withKeys({ environment, log }: CommandContext, work: (keys: ApiKeys) => Promise<void>): Promise<number> {
  requireSharedLedger(environment);
  if (environment.databaseUrl === null) prepareDataFolder(environment.dataFolder);
  const { ledger } = await openLedger(environment, log);
  try {
    await work(new ApiKeys(ledger.documents));
    return 0;
  } finally {
    await ledger.close();
  }
}

/** The key alone goes to standard output, so that a script can keep it. */
function show(
  { key, token }: { readonly key: ApiKey; readonly token: string },
  json: boolean,
  { note, print }: CommandContext,
): void {
  const { id, name, tenant, expiresAt } = key;
  if (json) return printJson({ print }, { id, name, tenant, expires_at: iso(expiresAt), token });
  note(
    `The API key ${key.id} of service:${key.name} in ${key.tenant} ends at ${iso(key.expiresAt)}. It is shown this once:\n`,
  );
  print(`${token}\n`);
}

async function list(keys: ApiKeys, json: boolean, { print, write, paint }: CommandContext): Promise<void> {
  const listed = await keys.list();
  if (json) {
    const times = (key: (typeof listed)[number]): object => ({
      ...{ id: key.id, name: key.name, tenant: key.tenant, groups: key.groups, connections: key.connections },
      ...{ created_at: iso(key.createdAt), expires_at: iso(key.expiresAt), revoked_at: isoOrNull(key.revokedAt) },
      ...{ last_used_at: isoOrNull(key.lastUsedAt), replaces: key.replaces },
    });
    return printJson({ print }, { keys: listed.map(times) });
  }
  if (listed.length === 0) write('There are no API keys.\n');
  const now = systemClock.now();
  for (const key of listed) {
    const isOver = key.revokedAt !== null || key.expiresAt <= now;
    const status = key.revokedAt !== null ? 'revoked' : isOver ? 'expired' : 'accepted';
    const used = key.lastUsedAt === null ? 'not used yet' : `last used ${iso(key.lastUsedAt)}`;
    write(
      `${key.id}  ${isOver ? status.padEnd(8) : paint.good(status.padEnd(8))}  service:${key.name} in ${key.tenant}, groups ${key.groups.join(', ') || 'none'}; until ${iso(key.expiresAt)}, ${used}\n`,
    );
  }
}

function idOf(text: string | undefined): string {
  if (text === undefined)
    throw new Error(`Name the API key by its id, as \`sluice keys api list\` shows it.\n${usage}`);
  return text;
}

function namesOf(text: string): readonly string[] {
  return [...new Set(text.split(',').filter((name) => name !== ''))];
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}
