import type { JsonValue, Verifier } from '@sluice/core';
import { openCheckpoint } from '../checkpoint.js';
import { formProblems } from './form.js';
import { bodyHash, leafText, sessionTag } from './report.js';
import type { Attestation, AttestedChain, AttestedEntry } from './report.js';
import { leafHash, rootFrom } from './tree.js';
import { quoteProblem } from './quote.js';

interface AttestationCheck {
  /** A sentence for each thing that is wrong; none if the report is genuine and whole. */
  readonly problems: readonly string[];
  readonly calls: number;
}

/**
 * Verifies a report with public keys alone: that it has the members of one and no others, who signed it, what it says
 * of each call, and that no entry of its span is missing.
 */
export async function verifyAttestation(given: JsonValue, keys: Verifier): Promise<AttestationCheck> {
  const form = formProblems(given);
  if (form.length > 0) return { problems: shortened(form), calls: 0 };
  const report = given as unknown as Attestation;
  const problems: string[] = [];
  const hash = bodyHash(report);
  const claims = await keys.verify('audit', report.signature);
  if (claims === null) problems.push(unsigned('The report', report.signature, keys));
  else if (claims['attestation'] !== hash) problems.push('The report was changed after it was signed.');
  for (const chain of report.chains) problems.push(...(await chainProblems(chain, report, keys)));
  if (new Set(report.chains.map(({ chain }) => chain)).size < report.chains.length)
    problems.push('The report names a chain twice.');
  const quote = report.quote === null ? null : await quoteProblem(report.quote, hash, keys);
  if (quote !== null) problems.push(quote);
  const calls = report.chains.flatMap(({ entries }) => entries.filter((entry) => isShown(entry, report)));
  return { problems: [...new Set(problems)], calls: calls.length };
}

/** Mistakes of form that are named, at most. */
const mostProblems = 20;

/** What was written by hand may have mistakes without end. */
function shortened(problems: readonly string[]): readonly string[] {
  if (problems.length <= mostProblems) return problems;
  return [...problems.slice(0, mostProblems), `There are ${problems.length - mostProblems} more mistakes like these.`];
}

const isShown = ({ call, at }: AttestedEntry, span: Attestation): boolean =>
  call !== undefined && (span.from === null || at >= span.from) && (span.to === null || at < span.to);

async function chainProblems(given: AttestedChain, report: Attestation, keys: Verifier): Promise<readonly string[]> {
  const { chain, tree, checkpoint: signature, last, entries } = given;
  const checkpoint = await openCheckpoint(signature, keys);
  if (checkpoint === null) return [unsigned(`The checkpoint of ${chain}`, signature, keys)];
  const problems: string[] = [];
  if (checkpoint.chain !== chain || checkpoint.sequence !== tree.size || checkpoint.head !== last.hash)
    problems.push(`The tree of ${chain} does not end where its checkpoint was signed.`);
  if (last.sequence !== tree.size) problems.push(`The last entry of ${chain} is not the tree’s last.`);
  for (const entry of new Set([...entries, last])) {
    const { sequence, hash, session, call, proof } = entry;
    const root = rootFrom(leafHash(leafText(chain, entry)), sequence - 1, tree.size, proof);
    const owner = call?.['session_id'];
    if (root !== tree.root || (typeof owner === 'string' && sessionTag(owner, hash) !== session))
      problems.push(`Entry ${sequence} of ${chain} is not what the audit’s tree holds there.`);
    if (entry.kind === 'tool_call' && call === undefined && isOfSession(entry, report.session))
      problems.push(`Entry ${sequence} of ${chain} is a call that the report leaves out.`);
  }
  return [...problems, ...gaps(given, report)];
}

/**
 * The span is whole if its entries have no gap, and reach from one before it, or the first of all, to one behind it,
 * or the last.
 */
function gaps({ chain, tree, entries }: AttestedChain, { from, to }: Attestation): readonly string[] {
  const problems: string[] = [];
  const [first, end] = [entries[0], entries.at(-1)];
  if (first === undefined || end === undefined) return [`The report shows no entry of ${chain}.`];
  entries.slice(1).forEach(({ sequence }, n) => {
    const before = entries[n]?.sequence ?? 0;
    if (sequence !== before + 1)
      problems.push(`The entries ${before + 1} to ${sequence - 1} of ${chain} are left out.`);
  });
  if (first.sequence !== 1 && (from === null || first.at >= from))
    problems.push(`Entries of ${chain} before entry ${first.sequence} are left out.`);
  if (end.sequence !== tree.size && (to === null || end.at < to))
    problems.push(`Entries of ${chain} behind entry ${end.sequence} are left out.`);
  return problems;
}

const isOfSession = ({ session, hash }: AttestedEntry, wanted: string | null): boolean =>
  wanted === null || sessionTag(wanted, hash) === session;

function unsigned(what: string, token: string, keys: Verifier): string {
  const key = keys.unknownKey('audit', token);
  return key === null
    ? `${what} is not signed by the audit.`
    : `${what} is signed by the key ${key}, which is not among yours. Get the installation’s public keys with \`sluice keys export auditor\`.`;
}
