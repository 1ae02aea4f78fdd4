import { type Kinds, seconds } from './kinds.js';

/** What tool discovery does, at the proxy and at the agent. Strategies, reasons and sources are closed lists. */
export function discoveryMetrics({ counter, histogram }: Kinds) {
  return {
    discoveryRequests: counter(
      'sluice_discovery_requests_total',
      'Requests with tools that discovery dealt with, by source (proxy or agent), strategy and outcome: changed, native where the provider searches itself, native_unsupported where it was to and cannot, or why their tools were left as they are.',
      'source',
      'strategy',
      'outcome',
    ),
    discoveryTools: counter(
      'sluice_discovery_tools_total',
      'Tools of these requests, by whether the first request to the model held them (kept) or not (deferred).',
      'strategy',
      'status',
    ),
    discoveryTokens: counter(
      'sluice_discovery_tokens_total',
      'Tokens of the tool definitions of these requests: all of them (before), and those of the first request to the model (after).',
      'strategy',
      'list',
    ),
    discoverySearches: counter(
      'sluice_discovery_searches_total',
      'Searches of models, by how they were answered: regex, keywords, blank, ranked, api, provider, all where a selector gave no selection, or too_long where the query was.',
      'by',
    ),
    discoveryMatches: counter(
      'sluice_discovery_matches_total',
      'Tools that searches of models found, by how these were answered.',
      'by',
    ),
    discoveryFailOpen: counter(
      'sluice_discovery_fail_open_total',
      'Searches that gave all tools since the selector of the strategy api gave no selection, by reason.',
      'reason',
    ),
    discoveryRounds: histogram(
      'sluice_discovery_rounds',
      'Rounds of searches before there was an answer, one observation a request that was given a search tool.',
      [0, 1, 2, 3, 4, 5],
      'source',
    ),
    discoveryCalled: counter(
      'sluice_discovery_called_total',
      'Tools that models called, by whether the first request held them (first) or a search found them (found).',
      'strategy',
      'shown',
    ),
    discoveryShadow: counter(
      'sluice_discovery_shadow_called_total',
      'Tools that models called, by whether the strategy that ran beside would have shown them (kept) or not (missed).',
      'strategy',
      'result',
    ),
    discoveryMeanings: counter(
      'sluice_discovery_meanings_total',
      'Requests under hybrid, by what it went by: used for the closeness of meanings; words alone where it was preparing, late, failed, too_many_tools or no_model.',
      'source',
      'way',
    ),
    discoveryTime: histogram(
      'sluice_discovery_choose_seconds',
      'Time to choose the tools of a request.',
      [0.001, ...seconds],
      'strategy',
    ),
    discoveryDropped: counter(
      'sluice_discovery_records_dropped_total',
      'Records of discovery that could not be written, by where to: log, or file.',
      'to',
    ),
  };
}
