/**
 * Loaded before a service on the embedded log: counts the transactions of each of its files, and says so to the
 * parent process when that sends anything.
 */
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const commits = {};
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (statement) {
  if (statement === 'COMMIT') {
    const file = basename(this.location() ?? '', '.sqlite');
    commits[file] = (commits[file] ?? 0) + 1;
  }
  return exec.call(this, statement);
};
process.on('message', () => process.send(commits));
process.channel?.unref();
