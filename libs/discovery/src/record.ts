import type { DiscoveryRecord } from '@sluice/records';
import type { DiscoveryReport, SearchReport } from './report.js';

/** What a record repeats at most, so that no list of a client and no text of a model makes it too large for the log. */
const longestQuery = 2_000;
const longestName = 200;
const mostNames = 100;
const mostSearches = 50;

/** A report as it stands on the log and in the file. Credentials that a model wrote into a search are taken out. */
export function discoveryRecord(report: DiscoveryReport): DiscoveryRecord {
  const { shadow, called } = report;
  return {
    requestId: short(report.requestId),
    sessionId: short(report.sessionId),
    tenantId: short(report.tenantId),
    source: report.source,
    iteration: report.iteration,
    wire: report.wire,
    model: short(report.model),
    strategy: report.strategy,
    bypass: report.bypass,
    totalTools: report.totalTools,
    keptTools: report.keptTools,
    deferredTools: report.deferredTools,
    nativeSearch: report.nativeSearch,
    meanings: report.meanings,
    searches: report.searches.slice(0, mostSearches).map(searchRecord),
    rounds: report.rounds,
    called: names(called),
    calledTools: called.length,
    calledDeferred: report.calledDeferred,
    tokensBefore: report.tokensBefore,
    tokensAfter: report.tokensAfter,
    tokenizer: report.tokenizer,
    chooseMs: Math.max(0, Math.round(report.chooseMs)),
    shadow:
      shadow === null
        ? null
        : {
            strategy: shadow.strategy,
            keptTools: shadow.kept.length,
            missed: names(shadow.missed),
            missedTools: shadow.missed.length,
          },
    configVersion: report.configVersion,
    at: report.at,
  };
}

function searchRecord({ query, by, matched, failOpen }: SearchReport) {
  const text = withoutCredentials(beginningOf(query)).slice(0, longestQuery).toWellFormed();
  return { query: text, by, matched: names(matched), matchedTools: matched.length, failOpen };
}

/** Enough of a query to repeat: what is cut at its end could be a credential of which the rest is missing. */
function beginningOf(query: string): string {
  const most = 2 * longestQuery;
  return query.length <= most ? query : query.slice(0, most).replace(/\S*$/, '');
}

function names(list: readonly string[]): readonly string[] {
  return list.slice(0, mostNames).map(short);
}

function short(text: string): string {
  return text.slice(0, longestName).toWellFormed();
}

/** What keys and tokens of common providers look like. */
const credentials = [
  /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\b(sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|hf|AIza)[-_]?[A-Za-z0-9_-]{16,}/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)?/g,
  /\b(api[_-]?key|password|passwd|secret|token)(["']?\s*[:=]\s*["']?)[^\s"',;]{6,}/gi,
];

/** A text in which `[hidden]` stands for what looks like a credential. */
function withoutCredentials(text: string): string {
  return credentials.reduce((shown, pattern) => shown.replace(pattern, '[hidden]'), text);
}
