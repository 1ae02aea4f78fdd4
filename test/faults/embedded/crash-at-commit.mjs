import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

/**
 * Loaded before Sluice starts: kills the process at the point that SLUICE_FAULT_CRASH names, as `moment file nth`.
 * It counts from SIGUSR2 on, so that the start is behind it.
 */
const [moment, file, nth] = (process.env.SLUICE_FAULT_CRASH ?? '').split(' ');
let left = Infinity;
process.on('SIGUSR2', () => (left = Number(nth)));

const dieAt = (passed) => {
  if (passed !== moment || --left > 0) return;
  process.kill(process.pid, 'SIGKILL');
};

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  const counts = sql === 'COMMIT' && this.location()?.endsWith(`${file}.sqlite`);
  if (counts) dieAt('before-commit');
  exec.call(this, sql);
  if (counts) dieAt('after-commit');
};

const self = await open(import.meta.filename);
const handles = Object.getPrototypeOf(self);
await self.close();
const { datasync, sync } = handles;
handles.datasync = async function () {
  dieAt('before-flush');
  await datasync.call(this);
  dieAt('after-flush');
};

// Of what runs in the process only the content store syncs so: content, its mark, and the names of both.
handles.sync = async function () {
  dieAt('before-sync');
  await sync.call(this);
  dieAt('after-sync');
};
