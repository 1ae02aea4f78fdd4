import type { CommandContext } from './command-context.js';

export interface Command {
  /** One or more forms, each a line that begins with `sluice`, with indented lines that say what it does. */
  readonly usage: string;
  run(args: readonly string[], surroundings: CommandContext): Promise<number>;
}

/**
 * A command as `sluice help` lists it. Its code is loaded when it is called, so that help and small commands start
 * fast.
 */
export interface CommandEntry {
  readonly group: CommandGroup;
  /** One line of at most 80 characters. */
  readonly summary: string;
  load(): Promise<Command>;
}

/** The headings of `sluice help`, in its order. */
export const commandGroups = ['Run', 'Ask and follow', 'Configure', 'Grant and approve', 'Prove and repair'] as const;
export type CommandGroup = (typeof commandGroups)[number];

export const commands: Readonly<Record<string, CommandEntry>> = {
  init: { group: 'Run', summary: 'Write a configuration to start from', load: () => import('./init.js') },
  start: { group: 'Run', summary: 'Run everything in this process, with a sample', load: () => import('./start.js') },
  console: { group: 'Run', summary: 'Print a link that opens the console', load: () => import('./console.js') },
  completion: {
    group: 'Run',
    summary: 'Print a script that completes commands in bash or zsh',
    load: () => import('./completion.js'),
  },
  ask: { group: 'Ask and follow', summary: 'Ask a question and show its run', load: () => import('./ask.js') },
  call: { group: 'Ask and follow', summary: 'Call one tool without a model', load: () => import('./call.js') },
  runs: { group: 'Ask and follow', summary: 'List runs', load: () => import('./runs.js') },
  cancel: { group: 'Ask and follow', summary: 'Cancel a run of your own', load: () => import('./cancel.js') },
  tail: { group: 'Ask and follow', summary: 'Watch the records of the log', load: () => import('./tail.js') },
  serve: { group: 'Run', summary: 'Run one service, or all, until stopped', load: () => import('./serve.js') },
  config: {
    group: 'Configure',
    summary: 'Apply, list, show and compare configurations',
    load: () => import('./config.js'),
  },
  mcp: {
    group: 'Configure',
    summary: 'Ask MCP servers for their tools; serve one MCP client',
    load: () => import('./mcp.js'),
  },
  openapi: {
    group: 'Configure',
    summary: 'List the operations of an OpenAPI document as tools',
    load: () => import('./openapi.js'),
  },
  keys: {
    group: 'Grant and approve',
    summary: 'Make and rotate signing keys and API keys',
    load: () => import('./keys.js'),
  },
  token: { group: 'Grant and approve', summary: 'Make a JWT for trials', load: () => import('./token.js') },
  approvals: {
    group: 'Grant and approve',
    summary: 'List and decide calls that wait for approval',
    load: () => import('./approvals.js'),
  },
  load: { group: 'Run', summary: 'Put a steady load on the services', load: () => import('./load.js') },
  audit: {
    group: 'Prove and repair',
    summary: 'Verify the audit log, show a session',
    load: () => import('./audit.js'),
  },
  attest: {
    group: 'Prove and repair',
    summary: 'Make or verify a signed report on tool calls',
    load: () => import('./attest.js'),
  },
  'dead-letters': {
    group: 'Prove and repair',
    summary: 'List and redrive records that could not be processed',
    load: () => import('./dead-letters.js'),
  },
  upgrade: {
    group: 'Prove and repair',
    summary: 'Say what an upgrade to this version would do here',
    load: () => import('./upgrade.js'),
  },
  backup: {
    group: 'Prove and repair',
    summary: 'Copy the data folder while services run on it',
    load: () => import('./backup.js'),
  },
  restore: {
    group: 'Prove and repair',
    summary: 'Make a data folder of a backup',
    load: () => import('./restore.js'),
  },
  project: { group: 'Prove and repair', summary: 'Rebuild the lists from the log', load: () => import('./project.js') },
  topics: {
    group: 'Prove and repair',
    summary: 'List topics, their rights and retention',
    load: () => import('./topics.js'),
  },
  ledger: {
    group: 'Prove and repair',
    summary: 'Say which log the ledger belongs to; adopt another',
    load: () => import('./ledger.js'),
  },
  status: {
    group: 'Ask and follow',
    summary: 'Say how roles, runs, approvals and costs stand',
    load: () => import('./status.js'),
  },
  doctor: {
    group: 'Prove and repair',
    summary: 'Look at all that Sluice needs here, and say what is wrong',
    load: () => import('./doctor.js'),
  },
  notify: { group: 'Configure', summary: 'List and try subscriptions to webhooks', load: () => import('./notify.js') },
  schedules: {
    group: 'Configure',
    summary: 'List, pause and run schedules',
    load: () => import('./schedules.js'),
  },
  check: { group: 'Configure', summary: 'Check a configuration file', load: () => import('./check.js') },
  export: {
    group: 'Prove and repair',
    summary: 'Write records of the log to a file',
    load: () => import('./export.js'),
  },
  replay: {
    group: 'Prove and repair',
    summary: 'Decide recorded runs again, or under another configuration',
    load: () => import('./replay.js'),
  },
  explain: {
    group: 'Configure',
    summary: 'Say which tools a request would get, and why',
    load: () => import('./explain.js'),
  },
  groups: { group: 'Configure', summary: 'List tool groups, tools and states', load: () => import('./groups.js') },
  tools: { group: 'Configure', summary: 'Write a page about each tool', load: () => import('./tools.js') },
  tokens: { group: 'Configure', summary: 'Count the tokens of tool definitions', load: () => import('./tokens.js') },
  eval: {
    group: 'Configure',
    summary: 'Compare strategies and models over test cases',
    load: () => import('./eval.js'),
  },
  recommend: {
    group: 'Configure',
    summary: 'Say which tool groups suit a question',
    load: () => import('./recommend.js'),
  },
  discovery: {
    group: 'Configure',
    summary: 'Try which of many tools a model would be shown',
    load: () => import('./discovery.js'),
  },
};

/** The usage text of each command, by its name. */
export async function usages(): Promise<ReadonlyMap<string, string>> {
  const loaded = Object.entries(commands).map(async ([name, { load }]) => [name, (await load()).usage] as const);
  return new Map(await Promise.all(loaded));
}
