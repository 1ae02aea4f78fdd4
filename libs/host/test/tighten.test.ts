import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openFile } from '@sluice/sqlite';
import { prepareDataFolder } from '../src/data-folder.js';
import { logToFile } from '../src/log.js';
import { tightenDataFolder } from '../src/tighten.js';

let home: string;
let dataFolder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-tighten-'));
  dataFolder = join(home, 'data');
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const kind = {
  noun: 'log',
  code: 'storage',
  applicationId: 1,
  migrations: ['CREATE TABLE one (x INTEGER) STRICT'],
} as const;
/** A log that keeps what it is given. */
function lines() {
  const said: string[] = [];
  const say = (_: unknown, message?: string): void => void said.push(String(message));
  return { said, log: { info: say, warn: say } as never };
}

describe('the data folder', () => {
  it('is made for its owner alone, with all that SQLite and the log put into it, whatever the umask is', () => {
    const before = process.umask(0);
    try {
      prepareDataFolder(dataFolder);
      const database = openFile(join(dataFolder, 'log.sqlite'), kind);
      database.exec('INSERT INTO one VALUES (1)');
      logToFile(join(dataFolder, 'sluice.log'), { fileOnly: true }).write('{}\n');
      const files = ['log.sqlite', 'log.sqlite-wal', 'log.sqlite-shm', 'sluice.log'];
      expect(files.map((file) => modeOf(join(dataFolder, file)))).toEqual(files.map(() => '600'));
      database.close();
    } finally {
      process.umask(before);
    }
    expect(modeOf(dataFolder)).toBe('700');
  });

  it('of a former version is tightened, and what is not Sluice’s in it is left', () => {
    mkdirSync(join(dataFolder, 'workspaces'), { recursive: true });
    const files = ['log.sqlite', 'log.sqlite-wal', 'ledger.sqlite', 'projection.sqlite', 'keys.json', 'local-secret', 'sluice.log', 'tool_discovery.jsonl.1']; // prettier-ignore
    for (const file of [...files, 'mine.sh']) {
      writeFileSync(join(dataFolder, file), '');
      chmodSync(join(dataFolder, file), 0o755);
    }
    chmodSync(dataFolder, 0o755);
    chmodSync(join(dataFolder, 'workspaces'), 0o777);
    const { said, log } = lines();
    tightenDataFolder({ dataFolder }, log);
    expect(files.map((file) => modeOf(join(dataFolder, file)))).toEqual(files.map(() => '600'));
    expect(modeOf(join(dataFolder, 'mine.sh'))).toBe('755');
    expect([modeOf(dataFolder), modeOf(join(dataFolder, 'workspaces'))]).toEqual(['700', '700']);
    expect(said).toHaveLength(files.length + 2);
    const again = lines();
    tightenDataFolder({ dataFolder }, again.log);
    expect(again.said).toEqual([]);
  });

  it('that holds the folder one works in is left as it is, with a warning; its files are tightened', () => {
    mkdirSync(dataFolder);
    chmodSync(dataFolder, 0o755);
    writeFileSync(join(dataFolder, 'log.sqlite'), '', { mode: 0o644 });
    jest.spyOn(process, 'cwd').mockReturnValue(join(dataFolder, 'project'));
    const { said, log } = lines();
    tightenDataFolder({ dataFolder }, log);
    expect([modeOf(dataFolder), modeOf(join(dataFolder, 'log.sqlite'))]).toEqual(['755', '600']);
    expect(said[0]).toContain('give it a folder of its own with SLUICE_DATA');
  });

  it('that is not there yet is no fault', () => {
    expect(() => tightenDataFolder({ dataFolder }, lines().log)).not.toThrow();
  });
});
