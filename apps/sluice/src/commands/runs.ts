import { parseArgs } from 'node:util';
import { printableIn, runErrors } from '@sluice/core';
import { openBus, requireLog, systemClock, verifierIfAny } from '@sluice/host';
import { GenuineEnds } from '@sluice/run';
import { readRuns } from '../runs.js';
import type { RunFilter, RunSummary, RunTokens } from '../runs.js';
import { shorten } from '../show/story.js';
import { readSince } from './since.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice runs [--since 12h] [--user NAME] [--tenant NAME] [--tool NAME] [--outcome answer|error|running|CODE] [--limit n] [--json]
  Lists the runs on the log, the oldest first, and of more than --limit (50) the newest. --since is how long ago (30m, 12h, 7d) or a date.
  --user is for whom a run was made, or else who asked. --tool is the key or id of a tool that the run called. --outcome is answer,
  error, running, or the code of an error (docs/errors.md). --json prints a line for each.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      since: { type: 'string' },
      user: { type: 'string' },
      tenant: { type: 'string' },
      tool: { type: 'string' },
      outcome: { type: 'string' },
      limit: { type: 'string', default: '50' },
      json: { type: 'boolean', default: false },
    },
  });
  const filter: RunFilter = {
    since: values.since === undefined ? null : readSince('--since', values.since, systemClock.now()),
    user: values.user ?? null,
    tenant: values.tenant ?? null,
    tool: values.tool ?? null,
    outcome: outcomeOf(values.outcome),
    most: limitOf(values.limit),
  };
  const { environment, log, write, print, taken } = surroundings;
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const runs = await readRuns(new GenuineEnds(bus, verifierIfAny(environment), log), filter);
    if (runs.length === 0 && !values.json) write('No run is selected.\n');
    for (const one of runs) {
      if (values.json) print(`${JSON.stringify(asJson(one))}\n`);
      else write(asLines(printableIn(one), surroundings));
      await taken();
    }
    return 0;
  } finally {
    await bus.close();
  }
}

function asLines(run: RunSummary, { paint }: CommandContext): string {
  const { requestId, sessionId, question, startedAt, endedAt, outcome, iterations, user, tenant, tools, tokens } = run;
  const time = new Date(startedAt).toISOString().slice(0, 19).replace('T', ' ');
  const marked = outcome === 'answer' ? paint.good(outcome) : outcome === 'running' ? outcome : paint.bad(outcome);
  const seconds = endedAt === null ? '' : ` in ${((endedAt - startedAt) / 1_000).toFixed(1)} s`;
  const called = tools.length === 0 ? 'no calls' : tools.map((tool) => paint.tool(tool)).join(', ');
  const whose = user === null ? '' : `${user}${tenant === null ? '' : ` of ${tenant}`}, `;
  const session = sessionId === requestId ? '' : `session ${sessionId}, `;
  return `${paint.dim(time)}  ${paint.strong(requestId)}  ${marked}${seconds}  “${shorten(question, 60)}”\n   ${session}${whose}${iterations} ${iterations === 1 ? 'iteration' : 'iterations'}, ${called}${tokensText(tokens)}\n`;
}

function tokensText({ input, output, definitions, results, other }: RunTokens): string {
  const count = (tokens: number): string => tokens.toLocaleString('en-US');
  const used = input + output === 0 ? '' : `, ${count(input)} tokens read and ${count(output)} written`;
  if (definitions === null) return used;
  return `${used}, prompts of ${count(definitions)} for definitions, ${count(results ?? 0)} for results, ${count(other ?? 0)} for the rest`;
}

function asJson(run: RunSummary): object {
  return {
    request_id: run.requestId,
    session_id: run.sessionId,
    question: run.question,
    started_at: new Date(run.startedAt).toISOString(),
    ended_at: run.endedAt === null ? null : new Date(run.endedAt).toISOString(),
    outcome: run.outcome,
    iterations: run.iterations,
    state: run.state,
    user: run.user,
    tenant: run.tenant,
    tools: run.tools,
    tokens: run.tokens,
  };
}

function outcomeOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const known = ['answer', 'error', 'running', ...Object.keys(runErrors)];
  if (known.includes(text)) return text;
  throw new Error(`--outcome is "${text}"; it must be answer, error, running, or the code of an error that ends runs.`);
}

function limitOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Error(`--limit is "${text}"; it must be a whole number from 1.`);
}
