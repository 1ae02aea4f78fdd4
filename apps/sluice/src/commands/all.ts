import type { Surroundings } from './surroundings.js';

export interface Command {
  /** One or more forms, each a line that begins with `sluice`, with indented lines that say what it does. */
  readonly usage: string;
  run(args: readonly string[], surroundings: Surroundings): Promise<number>;
}

/** Each is loaded when it is called, so that a small command starts fast. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  init: () => import('./init.js'),
  start: () => import('./start.js'),
  ask: () => import('./ask.js'),
  call: () => import('./call.js'),
  runs: () => import('./runs.js'),
  cancel: () => import('./cancel.js'),
  tail: () => import('./tail.js'),
  serve: () => import('./serve.js'),
  config: () => import('./config.js'),
  mcp: () => import('./mcp.js'),
  keys: () => import('./keys.js'),
  token: () => import('./token.js'),
  approvals: () => import('./approvals.js'),
  load: () => import('./load.js'),
  audit: () => import('./audit.js'),
  attest: () => import('./attest.js'),
  'dead-letters': () => import('./dead-letters.js'),
  project: () => import('./project.js'),
  topics: () => import('./topics.js'),
  check: () => import('./check.js'),
  export: () => import('./export.js'),
  replay: () => import('./replay.js'),
  explain: () => import('./explain.js'),
  groups: () => import('./groups.js'),
  tools: () => import('./tools.js'),
  tokens: () => import('./tokens.js'),
  eval: () => import('./eval.js'),
  recommend: () => import('./recommend.js'),
  discovery: () => import('./discovery.js'),
};

/** What each says of itself, by its name. */
export async function usages(): Promise<ReadonlyMap<string, string>> {
  const loaded = Object.entries(commands).map(async ([name, load]) => [name, (await load()).usage] as const);
  return new Map(await Promise.all(loaded));
}
