import { printableIn } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { findingKinds, isSound } from '@sluice/audit';
import type { AuditReport, ChainReport, Difference, Finding, FoundRun } from '@sluice/audit';
import type { Paint } from './paint.js';
import { shorten, shortenApart } from './story.js';

/** Entries behind the last checkpoint: they could still be exchanged unseen. */
function beyond({ sequence, sealed }: ChainReport): number {
  return sequence - sealed;
}

export function reportAsText(report: AuditReport, paint: Paint): string {
  const { chains, findings, found, sources, notCompared } = report;
  const sum = (of: (chain: ChainReport) => number): number => chains.reduce((all, chain) => all + of(chain), 0);
  if (found === 0 && !isSound(report))
    return `${paint.bad('✗')} There is no audit here: agent.audit holds no entries.\n`;
  const lines = [
    `${sum(({ entries }) => entries)} entries in ${chains.length} chains, ${sum(({ checkpoints }) => checkpoints)} checkpoints.`,
    ...chains.filter((chain) => beyond(chain) > 0).map(beyondLine),
    `${sources.compared} records compared with their entries; ${sources.gone} are no longer on the log, ${sources.waiting} have no entry yet.`,
    ...chains.filter(({ waiting }) => waiting > 0).map(waitingLine),
    ...(notCompared === null ? [] : [notCompared]),
    ...findings.map((finding) => findingLines(finding, paint)),
    ...(found > findings.length ? [`… and ${found - findings.length} findings more.`] : []),
    found === 0
      ? `${paint.good('✓')} Nothing was changed, dropped, inserted or moved.${chains.some((chain) => beyond(chain) > 0) ? ' For what lies beyond a last checkpoint no signature vouches yet.' : ''}`
      : `${paint.bad('✗')} ${found} ${found === 1 ? 'finding' : 'findings'}.`,
  ];
  return `${lines.join('\n')}\n`;
}

function beyondLine(chain: ChainReport): string {
  const count = beyond(chain);
  if (chain.sealed === 0)
    return `${chain.chain}: there is no checkpoint of its ${count === 1 ? 'entry' : `${count} entries`} yet.`;
  return `${chain.chain}: ${count === 1 ? 'the last entry lies' : `the last ${count} entries lie`} beyond the last checkpoint.`;
}

/** What the audit has yet to come to, or what was cut away with its checkpoints: the log alone does not show which. */
function waitingLine({ chain, entries, waiting, waitingSince }: ChainReport): string {
  const count = waiting === 1 ? '1 record has' : `${waiting} records have`;
  const since = waitingSince === null ? '' : `, the oldest since ${new Date(waitingSince).toISOString()}`;
  return `${chain}: ${count} no entry yet${since}${entries === 0 ? '; the chain has no entries' : ''}.`;
}

/** A line of the finding, one of each run that it is about, and one of each difference. */
function findingLines(finding: Finding, paint: Paint): string {
  const { kind, chain, entries, place, sourceOffset, what, runs, differences } = printableIn(finding);
  const range =
    entries === null
      ? ''
      : entries.first === entries.last
        ? `entry ${entries.first}`
        : `entries ${entries.first} to ${entries.last}`;
  const about = [
    chain,
    ...(range === '' ? [] : [range]),
    ...(sourceOffset === null ? [] : [`offset ${sourceOffset}`]),
    ...(place === null ? [] : [`at agent.audit ${place.partition} ${place.offset}`]),
  ].filter((part) => part !== '');
  return [
    `${paint.bad(kind.replace('_', ' '))} ${about.join(', ')}: ${findingKinds[kind]}${what === '' ? '' : ` ${what}`}`,
    ...runs.map(runLine),
    ...differences.map(differenceLine),
  ].join('\n');
}

function runLine({ requestId, sessionId, tenant }: FoundRun): string {
  const named = [
    ...(requestId === '' ? [] : [`run ${shorten(requestId)}`]),
    ...(sessionId === '' ? [] : [`session ${shorten(sessionId)}`]),
    ...(tenant === null ? [] : [`tenant ${shorten(tenant)}`]),
  ];
  return `    ${named.join(', ')}`;
}

function differenceLine({ entry, field, was, is }: Difference): string {
  const about = `${entry === null ? '' : `entry ${entry}, `}${field}`;
  const [before, now] = shortenApart(shownValue(was), shownValue(is));
  return `    ${about}: was ${before}, is ${now}`;
}

function shownValue(value: JsonValue): string {
  return value === null ? 'nothing' : JSON.stringify(value);
}
