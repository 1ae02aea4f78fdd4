import { parseArgs } from 'node:util';
import { openArchive } from '@sluice/archive';
import type { Selection } from '@sluice/archive';
import { auditReportJson, isSound, verifyAudit } from '@sluice/audit';
import type { Anchor } from '@sluice/audit';
import type { Bus, LogReader } from '@sluice/bus';
import { topics } from '@sluice/contracts';
import { openBus, requireLog, verifierForLooking } from '@sluice/host';
import { lastCheckpoints } from '../audit/checkpoints.js';
import { denialEntries } from '../audit/denials.js';
import { entriesOfOne } from '../audit/owners.js';
import { sessionEntries } from '../audit/session.js';
import { sessionNamed } from '../session-named.js';
import { readText } from '../read-text.js';
import { AuditStory } from '../show/audit-story.js';
import { reportAsText } from '../show/audit-report.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice audit verify [--json] [--anchors FILE] [--without-sources] [--export FILE]
  Recomputes every chain of the audit log, and names each record that was changed, dropped, inserted or moved, and what lies beyond
  the last checkpoint. Compares entries with their source records while these are retained; --without-sources does not.
  --anchors compares with checkpoints that were kept elsewhere, too. --export reads a file of sluice export,
  of the whole log, instead of the log. Exit code 1 if there is a finding, or no audit at all.
sluice audit show SESSION [--tenant NAME] [--user NAME] [--json]
  What happened in a session, in words; a unique beginning of its id is enough. A session is one user’s of one tenant: where several
  have one of this id, name whose. Exit code 1 if the audit has no entry of it.
sluice audit denials [--tenant NAME] [--user NAME] [--json]
  Which requests and listings were refused to whom, and why: by the gateway, and by the filter.
sluice audit checkpoints [--json]      the last checkpoint of each chain, a line each
  Keep them elsewhere, for verify --anchors. Exit code 1 if there are none. --json prints what verify
  found in one line; what show, denials and checkpoints print is a line for each.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      tenant: { type: 'string' },
      user: { type: 'string' },
      anchors: { type: 'string' },
      'without-sources': { type: 'boolean', default: false },
      export: { type: 'string' },
    },
  });
  const [action, ...words] = positionals;
  const [session] = words;
  const takes = (count: number, ...taken: readonly string[]): void =>
    refuseSurplus({ values, words }, { taken, words: count }, usage);
  const { environment } = surroundings;
  switch (action) {
    case 'verify': {
      takes(0, 'json', 'anchors', 'without-sources', 'export');
      const anchors = values.anchors === undefined ? [] : readAnchors(values.anchors);
      const sources = !values['without-sources'];
      const verify = async (log: LogReader): Promise<number> => {
        const signatures = verifierForLooking(environment);
        const report = await verifyAudit(log, { signatures, anchors, sources });
        if (values.json) surroundings.print(`${JSON.stringify(auditReportJson(report))}\n`);
        else surroundings.write(reportAsText(report, surroundings.paint));
        return isSound(report) ? 0 : 1;
      };
      if (values.export === undefined) return onLog(surroundings, verify);
      const archive = await openArchive(values.export);
      if (isPart(archive.header.selection))
        throw new Error(
          `The export ${values.export} has a part of the records alone, so its chains have gaps. Make one without --from, --to, --session, --tenant and --topic.`,
        );
      const { undecodable } = archive.trailer;
      if (undecodable > 0 && sources)
        throw new Error(
          `The export ${values.export} lacks ${undecodable} records that could not be decoded, which the audit covers. Verify it with --without-sources.`,
        );
      return verify(archive);
    }
    case 'show':
      takes(1, 'json', 'tenant', 'user');
      if (session === undefined || session === '') throw new Error(`Name the session.\n${usage}`);
      return onLog(surroundings, async (bus) => {
        const named = await sessionNamed(bus, session, { among: [topics.audit] });
        return show(bus, named, { ...values, json: values.json }, surroundings);
      });
    case 'denials':
      takes(0, 'json', 'tenant', 'user');
      return onLog(surroundings, (bus) => showDenials(bus, { ...values, json: values.json }, surroundings));
    case 'checkpoints':
      takes(0, 'json');
      return onLog(surroundings, async (bus) => {
        const kept = await lastCheckpoints(bus, verifierForLooking(environment));
        for (const checkpoint of kept) surroundings.print(`${JSON.stringify(checkpoint)}\n`);
        return 0;
      });
    case undefined:
    default:
      throw new Error(`${sayWhat('the audit log', action)}\n${usage}`);
  }
}

/** Whether entries of a chain are left out. */
function isPart({ from, to, session, tenant, topics: those }: Selection): boolean {
  const isNarrowed = [from, to, session, tenant].some((bound) => bound !== null);
  return isNarrowed || (those !== null && !those.includes(topics.audit));
}

async function onLog({ environment, log }: CommandContext, work: (bus: Bus) => Promise<number>): Promise<number> {
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}

async function show(
  bus: Bus,
  session: string,
  { json, ...named }: { readonly json: boolean; readonly tenant?: string; readonly user?: string },
  { write, print, taken, paint }: CommandContext,
): Promise<number> {
  const { entries: all, left } = await sessionEntries(bus, session);
  const { entries, unknown } = entriesOfOne(all, session, named);
  if (entries.length === 0) {
    if (json) throw new Error(`The audit has no entries of session ${session}.`);
    write(`The audit has no entries of session ${session}.\n`);
    return 1;
  }
  const story = new AuditStory(write, paint);
  for (const entry of entries) {
    if (json) print(`${JSON.stringify(entry)}\n`);
    else story.tell(entry);
    await taken();
  }
  if (json) {
    if (left > 0) throw new Error(`${left} more entries of this session are not shown.`);
    return 0;
  }
  if (left > 0) write(paint.dim(`\n${left} more entries of this session are not shown.\n`));
  if (unknown > 0)
    write(
      paint.dim(
        `\n${unknown} more entries under this id name no user, and are not shown. sluice tail shows their records.\n`,
      ),
    );
  write(paint.dim('\nWhether anybody changed it says `sluice audit verify`.\n'));
  return 0;
}

async function showDenials(
  bus: Bus,
  { json, ...named }: { readonly json: boolean; readonly tenant?: string; readonly user?: string },
  { write, print, taken, paint }: CommandContext,
): Promise<number> {
  const { entries, left } = await denialEntries(bus, named);
  const story = new AuditStory(write, paint);
  for (const entry of entries) {
    if (json) print(`${JSON.stringify(entry)}\n`);
    else story.tell(entry);
    await taken();
  }
  if (entries.length === 0 && !json) write('The audit has no denial.\n');
  if (left > 0 && json) throw new Error(`${left} more denials are not shown.`);
  if (left > 0) write(paint.dim(`\n${left} more denials are not shown.\n`));
  return 0;
}

/** Lines of `sluice audit checkpoints`. */
function readAnchors(file: string): readonly Anchor[] {
  const lines = readText(file).split('\n');
  const anchors = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const { chain, signature } = JSON.parse(line) as Record<string, unknown>;
      if (typeof chain === 'string' && typeof signature === 'string') return [{ chain, signature }];
    } catch {
      // Said below, with its line.
    }
    throw new Error(
      `${file}, line ${index + 1}, is no line of \`sluice audit checkpoints\`. Give the file as that wrote it.`,
    );
  });
  if (anchors.length === 0)
    throw new Error(`${file} holds no checkpoints. Give a file of what \`sluice audit checkpoints\` prints.`);
  return anchors;
}
