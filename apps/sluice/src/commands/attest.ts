import { parseArgs } from 'node:util';
import { isJsonObject, printable, repeatedName } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { attest, softwareQuotes, verifyAttestation } from '@sluice/audit';
import type { Attestation } from '@sluice/audit';
import { openBus, openSignatures, requireLog, requireSigner, verifierForLooking } from '@sluice/host';
import { readRange } from '../read-words.js';
import { readText } from '../read-text.js';
import { refuseSurplus } from '../refuse-surplus.js';
import { sessionNamed } from '../session-named.js';
import { printJson } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice attest [--from time] [--to time] [--session id] [--quote] [--json]
  Prints a signed report on the tool calls of a span: who called which tool under which configuration, the outcome, and hashes of arguments
  and result, each with a proof that leads to a checkpoint of the audit. A time is ISO 8601 or milliseconds since the epoch; --to is
  not included. With --session other sessions’ calls stand there as hashes. --quote adds a quote by software, which says that it is one.
  Needs the private key of the audit.
sluice attest verify FILE [--json]
  Verifies a report without a log, with public keys alone. Exit code 1 if anything was changed or left out, with a sentence for each.
  --json prints the report in one line, and of verify {valid, problems, calls}.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      session: { type: 'string' },
      quote: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const [action, file, ...more] = positionals;
  if (action === undefined) return report(values, surroundings);
  if (action !== 'verify' || file === undefined)
    throw new Error(`Name the report: sluice attest verify FILE.\n${usage}`);
  refuseSurplus({ values, words: more }, { taken: [], words: 0 }, usage);
  return verify(file, values.json, surroundings);
}

async function report(
  values: {
    readonly from?: string;
    readonly to?: string;
    readonly session?: string;
    readonly quote: boolean;
    readonly json: boolean;
  },
  { environment, log, print }: CommandContext,
): Promise<number> {
  const range = readRange(values);
  requireLog(environment);
  const signatures = openSignatures(environment);
  requireSigner('audit', { signatures });
  const { bus } = await openBus(environment, log);
  try {
    const session = values.session === undefined ? null : await sessionNamed(bus, values.session);
    const quotes = values.quote ? softwareQuotes(signatures) : null;
    // What retired keys signed is genuine too.
    const verifier = verifierForLooking(environment);
    const made = await attest(bus, { ...range, session }, { signatures: { ...signatures, ...verifier }, quotes });
    print(`${JSON.stringify(made, null, values.json ? 0 : 1)}\n`);
    return 0;
  } finally {
    await bus.close();
  }
}

async function verify(
  file: string,
  json: boolean,
  { environment, print, write, paint }: CommandContext,
): Promise<number> {
  const given = readReport(file);
  const { problems, calls } = await verifyAttestation(given, verifierForLooking(environment));
  if (json) {
    printJson({ print }, { valid: problems.length === 0, problems, calls });
    return problems.length === 0 ? 0 : 1;
  }
  for (const problem of problems) write(`${paint.bad('✗')} ${printable(problem)}\n`);
  if (problems.length > 0) return 1;
  const report = given as unknown as Attestation;
  const whose = report.session === null ? '' : ` of session ${printable(report.session)}`;
  write(`${paint.good('✓')} ${calls} calls${whose}, as the audit recorded them, and none left out.\n`);
  write(
    `Signed by ${report.signer}; ${report.quote === null ? 'no quote' : `with a quote of ${report.quote.kind}`}.\n`,
  );
  return 0;
}

/** What the file holds, if that may be meant as a report. */
function readReport(file: string): JsonValue {
  const text = readText(file);
  const report = jsonIn(text);
  if (!isJsonObject(report) || report['type'] !== 'sluice-attestation')
    throw new Error(`${file} is no report of \`sluice attest\`. Give the file as that wrote it.`);
  if (report['version'] !== 1)
    throw new Error(
      `${file} is a report of another version than 1, which is the one that is read here. Verify it with the version of Sluice that made it.`,
    );
  const repeated = repeatedName(text);
  if (repeated !== null)
    throw new Error(
      `${file} has ${printable(repeated)} twice, so that it may be read in two ways. Give the file as \`sluice attest\` wrote it.`,
    );
  return report;
}

function jsonIn(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
