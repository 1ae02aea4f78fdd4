import { at } from './observed.ts';
import type { Found, Place, Spoiled } from './observed.ts';

/** What `audit verify --json` and `replay --json` wrote once nothing moved any more, and what was on the log then. */
export interface Audited {
  readonly verified: string;
  readonly replayed: string;
  readonly found: readonly Found[];
  readonly spoiled: readonly Spoiled[];
}

/** Each of their records was decided by a service. */
const decisionTopics: ReadonlySet<string> = new Set([
  'agent.toolsets',
  'agent.tool-calls',
  'agent.steps',
  'agent.responses',
]);

interface Verified {
  readonly found: number;
  readonly findings: readonly object[];
  readonly sources: { readonly compared: number; readonly waiting: number; readonly not_compared: string | null };
}

interface Replayed {
  readonly replayed: number;
  readonly different: number;
  readonly not_replayable: number;
  readonly signatures_verified: boolean;
}

/**
 * The audit tells of every record, nothing of it was changed, dropped, inserted or moved, and every decision comes
 * out as it was recorded.
 */
export function audit({ verified, replayed, found, spoiled }: Audited): readonly string[] {
  const { sources, findings, ...report } = JSON.parse(verified) as Verified;
  const said = findings.map((finding) => `The audit has a finding: ${JSON.stringify(finding)}.`);
  if (report.found > findings.length) said.push(`The audit has ${report.found} findings.`);
  if (sources.waiting > 0) said.push(`${sources.waiting} records have no entry yet.`);
  if (sources.not_compared !== null) said.push(`The audit was not compared: ${sources.not_compared}`);
  if (sources.waiting === 0 && sources.compared < found.length)
    said.push(`The audit was compared with ${sources.compared} records; there are ${found.length} and more.`);
  return [...said, ...decisions(replayed, found, new Set(spoiled.map(at)))];
}

function decisions(replayed: string, found: readonly Found[], aside: ReadonlySet<string>): readonly string[] {
  const lines = replayed.split('\n').filter((line) => line !== '');
  const counts = JSON.parse(lines.pop() ?? '{}') as Replayed;
  // What was put there to be refused decides nothing: nobody can read it, or it is a copy that comes when its run is
  // over.
  const odd = lines.filter((line) => !aside.has(at(JSON.parse(line) as Place)));
  const said = odd.map((line) => `A decision does not come out as it was recorded: ${line}`);
  if (lines.length < counts.different + counts.not_replayable)
    said.push(`${counts.different} decisions are different, ${counts.not_replayable} could not be replayed.`);
  if (!counts.signatures_verified) said.push('The replay did not verify signatures.');
  const decided = found.filter(
    (one) => decisionTopics.has(one.topic) && one.record !== null && !aside.has(at(one)),
  ).length;
  if (counts.replayed < decided) said.push(`Of ${decided} decisions on the log ${counts.replayed} were replayed.`);
  return said;
}
