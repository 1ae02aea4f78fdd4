import { existsSync } from 'node:fs';
import { withLogCopy } from '@sluice/backup';
import { formatFindings, formatProblems, namesBefore } from '@sluice/configuration';
import { printable, programVersion } from '@sluice/core';
import type { CheckResult, Configuration } from '@sluice/core';
import {
  dataFiles,
  examineLog,
  examineRecords,
  newestVersion,
  openLogFile,
  recordedKeys,
  verifierIfAny,
} from '@sluice/host';
import { isComplete } from '@sluice/identity';
import { configurationsOn, inForceOf } from '@sluice/run';
import type { CommandContext } from '../commands/command-context.js';
import type { Check } from '../doctor/check.js';
import { Clocks } from '../doctor/clocks.js';
import { storeChecks } from '../doctor/stores.js';
import { Gateway } from '../operator/gateway.js';
import { compileForCommand } from '../system/compile-once.js';

/** MCP servers are asked as the configuration is compiled, and a large log is copied; milliseconds. */
const compileMs = 120_000;

/** What this version finds of what an earlier one left here. Nothing is created, registered, migrated or held. */
export function upgradeChecks(file: string | null, context: CommandContext) {
  const { environment } = context;
  const stores = storeChecks(environment, new Clocks());
  const isEmbedded = environment.kafka === null;
  const checks: readonly Check[] = [
    {
      check: 'version',
      run: () => (isEmbedded ? version(context) : { outcome: 'ok', detail: `This is ${programVersion}.` }),
    },
    ...stores.checks,
    ...(isEmbedded ? [{ check: 'records', run: () => examineRecords(environment) ?? noLog }] : []),
    { check: 'configuration', limitMs: compileMs, run: () => configuration(file, context) },
    { check: 'keys', run: () => keys(context) },
    { check: 'services', run: () => services(context) },
  ];
  return { checks, close: () => stores.close() };
}

const noLog: CheckResult = { outcome: 'ok', detail: 'There is no log yet; the first start makes it.' };

function version({ environment }: CommandContext): CheckResult {
  const written = newestVersion(environment);
  const own = `this is ${programVersion}`;
  if (!existsSync(dataFiles(environment).log)) return { outcome: 'ok', detail: `The data folder is new; ${own}.` };
  if (written === null)
    return {
      outcome: 'ok',
      detail: `No version is named in ${environment.dataFolder}, so it is an early one; ${own}.`,
    };
  if (written === programVersion)
    return { outcome: 'ok', detail: `This version, ${written}, opened the folder before.` };
  return { outcome: 'ok', detail: `The newest version that opened the folder is ${written}; ${own}.` };
}

/** That in force, and what its file, or another one, becomes by this version. */
async function configuration(named: string | null, context: CommandContext): Promise<CheckResult> {
  const last = await inForce(context);
  const file = named ?? (last !== null && existsSync(last.source) ? last.source : null);
  const applied = last === null ? '' : `In force is version ${last.version}, which this version reads. `;
  if (file === null)
    return {
      outcome: last === null ? 'skipped' : 'ok',
      detail: last === null ? 'No configuration is in force here, and no file is named.' : applied.trim(),
      ...(last === null ? {} : { action: 'Give its file with --config to see whether this version compiles it.' }),
    };
  const compiled = await compileForCommand(file, context, { names: namesBefore(last?.configuration ?? null) });
  if (compiled.configuration === null)
    return {
      ...{
        outcome: 'failed',
        detail: `${applied}${file} is refused by this version: ${formatProblems(compiled.problems)}`,
      },
      action: 'What is in force stays. Mend the file before you apply it again.',
    };
  const found = compiled.findings.length === 0 ? '' : ` ${formatFindings(compiled.findings)}`;
  const is = compiled.configuration.version;
  if (last === null || is === last.version)
    return { outcome: 'ok', detail: `${applied}${file} compiles to ${is}.${found}` };
  return {
    ...{ outcome: 'warning', detail: `${applied}${file} compiles to ${is} now.${found}` },
    action: `Nothing has to be applied again. To have it in force: sluice config apply ${file}.`,
  };
}

interface InForce {
  readonly version: string;
  readonly source: string;
  readonly configuration: Configuration;
}

/**
 * Of a log of another version a copy is read: to open it registers schemas and brings it up to date. On Kafka a
 * command would register schemas, so there nothing is read.
 */
async function inForce(context: CommandContext): Promise<InForce | null> {
  const { environment, log } = context;
  const verifier = verifierIfAny(environment);
  const readFrom = async (dataFolder: string): Promise<InForce | null> => {
    const bus = await openLogFile({ ...environment, dataFolder }, log);
    try {
      const last = inForceOf(await configurationsOn(bus, verifier));
      if (last === undefined) return null;
      return { version: last.version, source: last.source, configuration: last.read() };
    } finally {
      await bus.close();
    }
  };
  const examined = environment.kafka === null ? examineLog(environment, 'filter') : null;
  if (examined === null || examined.result.outcome === 'failed') return null;
  const isOwn = examined.isOfThisVersion && newestVersion(environment) === programVersion;
  return isOwn ? readFrom(environment.dataFolder) : withLogCopy(environment, readFrom);
}

function keys({ environment }: CommandContext): CheckResult {
  const set = recordedKeys(environment);
  if (set === null) return { outcome: 'skipped', detail: 'There are no keys here.' };
  if (isComplete(set)) return { outcome: 'ok', detail: 'The keys have all roles that this version signs with.' };
  return {
    ...{ outcome: 'warning', detail: 'The keys are of a former version, and lack roles that this one signs with.' },
    action:
      'Start the new version everywhere first, then `sluice keys rotate` (docs/security.md, From a version without these signatures).',
  };
}

/** The gateway that answers here says which version its services are, if the caller may hear it. */
async function services({ environment }: CommandContext): Promise<CheckResult> {
  const url = `http://127.0.0.1:${environment.httpPort}`;
  let found: string;
  try {
    found = String((await new Gateway(url, environment).get('/v1/status'))['version']);
  } catch (error) {
    return { outcome: 'skipped', detail: printable((error as Error).message) };
  }
  if (found === programVersion) return { outcome: 'ok', detail: `The gateway at ${url} is of this version already.` };
  const order =
    environment.kafka === null
      ? 'Stop it, and start this version in its place: both cannot have the folder.'
      : 'Start this version of each service in its place, one after another (docs/operations.md, Upgrades).';
  return { outcome: 'warning', detail: `The gateway at ${url} is ${found}; this is ${programVersion}.`, action: order };
}
