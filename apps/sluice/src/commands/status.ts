import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printable, printableIn } from '@sluice/core';
import { ownToken, readLocalSecret, systemClock } from '@sluice/host';
import { printJson } from '../json-answer.js';
import { refuseSurplus } from '../refuse-surplus.js';
import { NoGateway, statusAtGateway } from '../status/at-gateway.js';
import { statusFromLog } from '../status/from-log.js';
import { attentionOf } from '../status/status.js';
import type { InstallationStatus } from '../status/status.js';
import type { CommandContext } from './command-context.js';

/** How often --watch looks again, milliseconds. */
const againMs = 2_000;

export const usage = `sluice status [--url URL] [--watch] [--json]
  How the installation stands: the roles with what they have not finished, open runs, calls that wait for an approval, dead letters of the
  last day, MCP servers with tools that are held back, the configuration in force and later ones that are refused, and runs, tokens and cost
  since midnight UTC. It asks the gateway at --url, else the one at SLUICE_HTTP_PORT of this machine, as an operator: by SLUICE_TOKEN, else
  the local secret. Where none runs there it reads the log, which takes longer and knows neither which roles work nor costs.
  --watch shows it again every two seconds until it is stopped. --json prints one line, with --watch one each time: {at, from, version,
  config_version, attention, roles, checks, runs, approvals, dead_letters, servers, refused, today}; attention has sentences.
  Exit code 1 if something needs attention: a role that does not work, an overdue run, a dead letter, a tool that is held back or a
  configuration that is refused. A call that waits for an approval does not.`;

export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string' },
      watch: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  refuseSurplus({ values, words: [] }, { taken: ['url', 'watch', 'json'], words: 0 }, usage);
  if (values.url !== undefined && !/^https?:\/\//.test(values.url))
    throw new Error('--url must begin with http:// or https://.');
  const stop = new AbortController();
  if (values.watch) void context.stopped.then(() => stop.abort());
  for (;;) {
    const status = await look(values.url, context);
    const attention = attentionOf(status);
    if (values.json) printJson(context, { ...status, attention });
    else {
      // The screen is cleared once what is shown next is there.
      if (values.watch && context.terminal) context.print('\u001b[2J\u001b[H');
      context.write(asText(status, attention, context));
    }
    if (!values.watch) return attention.length > 0 ? 1 : 0;
    await context.taken();
    await delay(againMs, undefined, { signal: stop.signal }).catch(() => undefined);
    if (stop.signal.aborted) return attention.length > 0 ? 1 : 0;
  }
}

async function look(url: string | undefined, context: CommandContext): Promise<InstallationStatus> {
  const { environment } = context;
  const now = systemClock.now();
  const token = ownToken(environment) ?? readLocalSecret(environment);
  const at = (url ?? `http://127.0.0.1:${environment.httpPort}`).replace(/\/+$/, '');
  if (url === undefined && environment.httpPort === 0) return statusFromLog(context, now);
  try {
    return await statusAtGateway(at, token, now);
  } catch (error) {
    if (url !== undefined || !(error instanceof NoGateway)) throw error;
    return statusFromLog(context, now);
  }
}

function asText(given: InstallationStatus, attention: readonly string[], { paint }: CommandContext): string {
  const status = printableIn(given);
  const { runs, approvals, dead_letters: letters, today } = status;
  const line = (name: string, text: string): string => `${paint.dim(name.padEnd(14))} ${text}\n`;
  const since = (at: string | null): string =>
    at === null ? '' : `, the oldest since ${at.slice(0, 19).replace('T', ' ')}`;
  const roles = status.roles.map(({ role, ready, lag, topics }) => {
    const works = ready === null ? '' : ready ? paint.good('works, ') : paint.bad('does not work, ');
    const behind = topics.flatMap((one) => (one.lag === 0 ? [] : [`${one.topic} ${one.lag}`])).join(', ');
    return line(
      `  ${role}`,
      `${works}${lag === null ? 'lag unknown' : lag === 0 ? 'nothing waits' : `${lag} records wait: ${behind}`}`,
    );
  });
  const cost = today.usd === null ? '' : `, ${today.usd.toFixed(2)} USD`;
  return [
    line('configuration', status.config_version ?? 'none was ever applied'),
    line(
      'roles',
      status.from === 'gateway'
        ? `as the gateway ${status.version ?? ''} sees them`
        : 'as the log has them; no gateway answers',
    ),
    ...roles,
    line('runs', `${runs.running} open${since(runs.oldest_at)}`),
    line('approvals', `${approvals.waiting} wait${since(approvals.oldest_at)}`),
    line('dead letters', `${letters.last_day} in the last day`),
    ...(status.servers.length === 0
      ? []
      : [line('MCP servers', status.servers.map(({ name, state }) => `${name} ${state}`).join(', '))]),
    line(
      'today',
      `${today.runs} runs ended, ${today.failures} with an error; ${today.tokens.input.toLocaleString('en')} tokens read and ${today.tokens.output.toLocaleString('en')} written${cost}`,
    ),
    ...(attention.length === 0
      ? [`${paint.good('✓')} Nothing needs attention.\n`]
      : attention.map((sentence) => `${paint.bad('!')} ${printable(sentence)}\n`)),
  ].join('');
}
