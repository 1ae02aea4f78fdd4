import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CheckResult } from '@sluice/core';
import { dataFiles, keyFile, readLocalSecret, recordedKeys } from '@sluice/host';
import type { Environment } from '@sluice/host';
import type { Check } from './check.js';

const mebibyte = 1024 * 1024;
/** Less free room fails, and less than this warns, in bytes. */
const leastFree = 100 * mebibyte;
const littleFree = 1024 * mebibyte;
/** Rights of the group and of everybody. */
const ofOthers = 0o077;

/** This machine: the data folder, keys and free room. */
export function machineChecks(environment: Environment): readonly Check[] {
  return [
    { check: 'data_folder', run: () => dataFolder(environment) },
    { check: 'disk_space', run: () => diskSpace(environment) },
    { check: 'keys', run: () => keys(environment) },
    { check: 'local_secret', run: () => localSecret(environment) },
  ];
}

function dataFolder({ bus, databaseUrl, dataFolder: folder }: Environment): CheckResult {
  const isNeeded = bus === 'sqlite' || databaseUrl === null;
  if (!isNeeded) return { outcome: 'skipped', detail: 'Log and ledger are elsewhere.' };
  if (!existsSync(folder)) {
    const above = nearestThere(folder);
    if (statSync(above).isDirectory() && mayWrite(above))
      return { outcome: 'ok', detail: `${folder} is not there yet; the first start makes it.` };
    return {
      ...{ outcome: 'failed', detail: `${folder} is not there, and this user may not make it in ${above}.` },
      action: 'Set SLUICE_DATA to a folder that this user may write.',
    };
  }
  const { mode, uid } = lstatSync(folder);
  if (!mayWrite(folder))
    return {
      ...{ outcome: 'failed', detail: `This user may not write ${folder}.` },
      action: 'Give the folder to the user that runs Sluice, or set SLUICE_DATA to another one.',
    };
  const files = Object.values(dataFiles({ dataFolder: folder })).filter((file) => existsSync(file));
  const closed = files.find((file) => !mayWrite(file));
  if (closed !== undefined)
    return {
      ...{ outcome: 'failed', detail: `This user may not write ${closed}.` },
      action: `Give it to the user that runs Sluice: chown ${process.getuid?.() ?? 'USER'} ${closed}.`,
    };
  const open = process.getuid === undefined ? undefined : [folder, ...files].find(isOpen);
  if (open === undefined) return { outcome: 'ok', detail: `${folder} can be written, by its owner alone.` };
  const isOwn = uid === process.getuid?.();
  return {
    ...{ outcome: 'warning', detail: `Others on this machine may read ${open} (mode ${(mode & 0o777).toString(8)}).` },
    action: isOwn ? 'The next start takes that from them.' : 'Let its owner take that from them with chmod.',
  };
}

async function diskSpace({ dataFolder: folder }: Environment): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(nearestThere(folder));
  const free = bavail * bsize;
  const said = `${(free / 1024 ** 3).toFixed(1)} GB are free where the data folder is.`;
  if (free < leastFree)
    return { outcome: 'failed', detail: said, action: 'Make room: the log stops when the disk is full.' };
  if (free < littleFree) return { outcome: 'warning', detail: said, action: 'Make room before the disk is full.' };
  return { outcome: 'ok', detail: said };
}

function keys(environment: Environment): CheckResult {
  const { bus, secret } = environment;
  const set = recordedKeys(environment);
  if (set === null && bus === 'kafka')
    return {
      ...{ outcome: 'failed', detail: 'SLUICE_KEYS is not set, so nothing can be signed or verified.' },
      action:
        'Run `sluice keys new` once, and give each process what `sluice keys export` prints for its role with SLUICE_KEYS_FILE.',
    };
  if (set === null) return { outcome: 'ok', detail: 'There are no keys yet; the first start makes them.' };
  const file = keyFile(environment);
  const isGiven = secret('SLUICE_KEYS') !== undefined;
  if (!isGiven && process.getuid !== undefined && existsSync(file) && isOpen(file))
    return {
      ...{ outcome: 'warning', detail: `Others on this machine may read the keys in ${file}.` },
      action: `Run chmod 600 ${file}, and rotate the keys if others have read them (docs/security.md).`,
    };
  return {
    outcome: 'ok',
    detail: isGiven ? 'The keys that are given can be read.' : `The keys in ${file} can be read.`,
  };
}

function localSecret(environment: Environment): CheckResult {
  const found = readLocalSecret(environment) !== undefined;
  if (found) return { outcome: 'ok', detail: 'The local secret can be read.' };
  if (environment.bus === 'kafka')
    return { outcome: 'skipped', detail: 'None is given, which only an installation without an identity needs.' };
  return { outcome: 'ok', detail: 'There is no local secret yet; the first start makes it.' };
}

function nearestThere(path: string): string {
  return existsSync(path) ? path : nearestThere(dirname(path));
}

function isOpen(path: string): boolean {
  return (lstatSync(path).mode & ofOthers) !== 0;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
