import { parseArgs } from 'node:util';
import { sizeText, takeBackup } from '@sluice/backup';
import { requireLog, systemClock } from '@sluice/host';
import { abortOn } from '../abort-on.js';
import { progressOn } from '../show/progress.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice backup FOLDER [--without-keys] [--json]
  Copies the data folder to a new folder, also while services run on it: log, ledger and graphs as they are at one moment, then files.
  The keys and the local secret are in it: who has the backup can sign as these services and sign in. It is readable for its
  owner alone; --without-keys leaves them out, and nothing of it can go on without them. Stopped or failed, it leaves nothing.
  --json prints its manifest: the version, the moment, the offsets of the log, and each file with its size and SHA-256.
  On Kafka the topics and the database have backups of their own (docs/operations.md).`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { 'without-keys': { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  });
  const [to, ...more] = positionals;
  if (to === undefined || more.length > 0) throw new Error(`Name the folder to make.\n${usage}`);
  const { environment, write, print, note, paint, stopped } = surroundings;
  requireEmbedded(environment);
  requireLog(environment);
  const manifest = await takeBackup({
    ...{ dataFolder: environment.dataFolder, to, withKeys: !values['without-keys'], now: systemClock.now() },
    signal: abortOn(stopped),
    onProgress: progressOn(surroundings, 'copied'),
  });
  if (values.json) print(`${JSON.stringify(manifest)}\n`);
  const say = values.json ? note : write;
  const bytes = manifest.files.reduce((sum, one) => sum + one.bytes, 0);
  say(`${paint.good('✓')} ${to}: ${manifest.files.length} files, ${sizeText(bytes)}, as of ${manifest.takenAt}\n`);
  say(
    manifest.hasKeys
      ? `${paint.bad('It holds the keys and the local secret.')} Who has it can sign as these services: keep it as you keep them.\n`
      : `It holds no keys. To go on with it, put ${environment.keyFile ?? 'keys.json'} in place before you start.\n`,
  );
  if (environment.databaseUrl !== null)
    say(
      environment.claimDatabases.length === 0
        ? 'The ledger is in the database of DATABASE_URL: back that up now, after this. It must not be the older one.\n'
        : 'The ledger is in the databases of DATABASE_URL and SLUICE_LEDGER: back each of them up now, after this. None may be older.\n',
    );
  return 0;
}

/** Also for `sluice restore`. */
export function requireEmbedded({ bus }: CommandContext['environment']): void {
  if (bus === 'kafka')
    throw new Error(
      'The log is on Kafka (SLUICE_BUS). Topics, database and keys have backups of their own: docs/operations.md, Backup.',
    );
}
