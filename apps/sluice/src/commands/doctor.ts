import { parseArgs } from 'node:util';
import { printable } from '@sluice/core';
import type { Environment } from '@sluice/host';
import { examine } from '../doctor/check.js';
import type { Check, CheckReport } from '../doctor/check.js';
import { Clocks } from '../doctor/clocks.js';
import { configurationCheck } from '../doctor/configured.js';
import { machineChecks } from '../doctor/machine.js';
import { portChecks } from '../doctor/ports.js';
import { storeChecks } from '../doctor/stores.js';
import { refuseSurplus } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice doctor [--no-model] [--json]
  Looks at everything that Sluice needs here, side by side, each within a few seconds: ports, the data folder with its keys, free
  room, the log (on Kafka the broker, topics, rights and the registry), the database, the configuration that SLUICE_CONFIG names or that
  is in force, its models with their keys, its MCP servers, the identity provider, and this machine's clock against theirs. Each line says
  that it is well, or what is not and what to do. It changes nothing, and works beside services that run.
  A model is asked for its provider's list of models, which costs nothing, or where there is no list one short question; --no-model asks
  none. --json prints one list of {check, outcome, detail, action, ms}; outcome is ok, warning, failed or skipped, and action may be
  absent. Exit code 1 if something failed.`;

export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { 'no-model': { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  });
  refuseSurplus({ values, words: [] }, { taken: ['no-model', 'json'], words: 0 }, usage);
  const { environment, print, write } = context;
  const hide = hiding(environment);
  const reports: CheckReport[] = [];
  for await (const report of reportsOf(context, !values['no-model'])) {
    const { detail, action } = report;
    const shown = {
      ...report,
      detail: printable(hide(detail)),
      ...(action === undefined ? {} : { action: printable(hide(action)) }),
    };
    reports.push(shown);
    if (!values.json) write(asLine(shown, context));
  }
  const failed = reports.filter(({ outcome }) => outcome === 'failed').length;
  const warned = reports.filter(({ outcome }) => outcome === 'warning').length;
  if (values.json) print(`${JSON.stringify(reports)}\n`);
  else write(`\n${summary(failed, warned)}\n`);
  return failed > 0 ? 1 : 0;
}

/** All begin at once, and come in an order that a reader can follow. What a configuration names comes behind. */
async function* reportsOf(context: CommandContext, asksModels: boolean): AsyncGenerator<CheckReport> {
  const { environment } = context;
  const clocks = new Clocks();
  const stores = storeChecks(environment, clocks);
  let named: readonly Check[] = [];
  try {
    const looking = { context, clocks, asksModels, isReadable: stores.isReadable };
    const first = [
      ...machineChecks(environment),
      ...portChecks(environment),
      ...stores.checks,
      configurationCheck(looking, (checks) => (named = checks)),
    ].map(examine);
    for (const report of first) yield await report;
    for (const report of named.map(examine)) yield await report;
    yield await examine({ check: 'clock', run: () => clocks.result() });
  } finally {
    await stores.close().catch(() => undefined);
  }
}

function asLine({ check, outcome, detail, action }: CheckReport, { paint }: CommandContext): string {
  const marks = { ok: paint.good('✓'), warning: paint.strong('!'), failed: paint.bad('✗'), skipped: paint.dim('-') };
  const next = action === undefined ? '' : ` ${action}`;
  return `${marks[outcome]} ${paint.dim(check.padEnd(16))} ${detail}${next}\n`;
}

function summary(failed: number, warned: number): string {
  const warnings = warned === 0 ? '' : warned === 1 ? ' One line is a warning.' : ` ${warned} lines are warnings.`;
  if (failed === 0) return `Nothing is wrong.${warnings}`;
  return `${failed === 1 ? 'One thing is' : `${failed} things are`} wrong.${warnings}`;
}

/** Errors of libraries may repeat what they were given. */
function hiding({ databaseUrl, claimDatabases, kafka, secret }: Environment): (text: string) => string {
  const urls = [...(databaseUrl === null ? [] : [databaseUrl]), ...claimDatabases.map(({ url }) => url)];
  const passwords = urls.map((url) => new URL(url).password);
  const { sasl, registry } = kafka ?? { sasl: null, registry: {} };
  const known = [
    ...[...passwords, ...passwords.map(decodeURIComponent), registry.password],
    ...(sasl === null ? [] : 'password' in sasl ? [sasl.password] : [sasl.clientSecret]),
    ...['SLUICE_LOCAL_SECRET', 'SLUICE_TOKEN', 'SLUICE_KEYS', 'SLUICE_SECRETS_KEY'].map(secret),
  ].filter((text): text is string => text !== undefined && text.length >= 8);
  return (text) => known.reduce((left, one) => left.replaceAll(one, '(hidden)'), text);
}
