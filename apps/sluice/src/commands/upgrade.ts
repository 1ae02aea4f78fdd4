import { parseArgs } from 'node:util';
import { printable, programVersion } from '@sluice/core';
import { newestVersion } from '@sluice/host';
import { examine } from '../doctor/check.js';
import type { CheckReport } from '../doctor/check.js';
import { refuseSurplus } from '../refuse-surplus.js';
import { upgradeChecks } from '../upgrade/checks.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice upgrade --check [--config FILE] [--json]
  Says what an upgrade to this version would do here, and changes nothing: the version that wrote the data folder, formats of log and
  ledger, whether registered schemas of records fit, whether this version reads the configuration in force and compiles its file, or FILE,
  with what MCP servers offer now, keys that lack a role, and services of another version that answer. --json prints one object with
  the list checks of {check, outcome, detail, action, ms}; outcome is ok, warning, failed or skipped, and action may be absent. Exit
  code 1 if something stands in the way. An upgrade itself is a start of the new version (docs/operations.md, Upgrades).`;

export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      check: { type: 'boolean', default: false },
      config: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  refuseSurplus({ values, words: [] }, { taken: ['check', 'config', 'json'], words: 0 }, usage);
  if (!values.check)
    throw new Error(`An upgrade is a start of the new version. What it would do here, --check says.\n${usage}`);
  const { environment, print, write, paint } = context;
  const { checks, close } = upgradeChecks(values.config ?? environment.configFile, context);
  const reports: CheckReport[] = [];
  try {
    for (const check of checks) {
      const report = await examine(check);
      reports.push({ ...report, detail: printable(report.detail) });
    }
  } finally {
    await close();
  }
  const inTheWay = reports.filter(({ outcome }) => outcome === 'failed').length;
  if (values.json) {
    const about = { version: programVersion, written_by: newestVersion(environment), may_upgrade: inTheWay === 0 };
    print(`${JSON.stringify({ ...about, checks: reports })}\n`);
    return inTheWay === 0 ? 0 : 1;
  }
  const marks = { ok: paint.good('✓'), warning: paint.strong('!'), failed: paint.bad('✗'), skipped: paint.dim('-') };
  for (const { check, outcome, detail, action } of reports)
    write(`${marks[outcome]} ${paint.dim(check.padEnd(14))} ${detail}${action === undefined ? '' : ` ${action}`}\n`);
  write(
    inTheWay === 0
      ? `\nNothing stands in the way. ${environment.kafka === null ? 'Back the folder up first: sluice backup FOLDER. ' : ''}Then start this version.\n`
      : `\n${inTheWay === 1 ? 'One thing stands' : `${inTheWay} things stand`} in the way.\n`,
  );
  return inTheWay === 0 ? 0 : 1;
}
