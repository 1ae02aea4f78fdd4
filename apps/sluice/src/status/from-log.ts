import type { Configuration } from '@sluice/core';
import { consumersUnder } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { GenuineEnds, inForceOf, judgedConfigurations, readLetters, readServerReports } from '@sluice/run';
import { verifierIfAny } from '@sluice/host';
import { allOpen, withApprovals } from '../approvals/approval-log.js';
import type { CommandContext } from '../commands/command-context.js';
import { readRuns } from '../runs.js';
import { isoOrNull, midnight } from './status.js';
import type { InstallationStatus } from './status.js';

const dayMs = 86_400_000;
const mostRuns = 100_000;

/** The same where no gateway runs: read from the log and the ledger, without the lists that a gateway keeps. */
export async function statusFromLog(context: CommandContext, now: number): Promise<InstallationStatus> {
  const { environment, log } = context;
  let found: InstallationStatus | undefined;
  await withApprovals(context, async (stores) => {
    const { bus, documents } = stores;
    const verifier = verifierIfAny(environment);
    const all = await judgedConfigurations(bus, verifier);
    const last = inForceOf(all.filter(({ refused }) => refused === null).map(({ applied }) => applied));
    const genuine = new GenuineEnds(bus, verifier, log);
    const filter = { since: midnight(now), user: null, tenant: null, tool: null, outcome: null, most: mostRuns };
    const runs = await readRuns(genuine, filter);
    const open = await readRuns(genuine, { ...filter, since: null, outcome: 'running' });
    const waiting = await allOpen(stores);
    const letters: number[] = [];
    for await (const letter of readLetters(bus, { since: now - dayMs })) letters.push(letter.dead.failedAt);
    const reports = documents === null ? [] : [...(await readServerReports(documents, now)).values()].flat();
    const ended = runs.filter(({ endedAt }) => endedAt !== null);
    const sum = (of: (run: (typeof runs)[number]) => number): number => runs.reduce((total, run) => total + of(run), 0);
    found = {
      at: new Date(now).toISOString(),
      ...{ from: 'log', version: null, config_version: last?.version ?? null, checks: [] },
      roles: await rolesOn(bus, last?.read()),
      runs: { running: open.length, oldest_at: isoOrNull(open[0]?.startedAt), overdue: null },
      approvals: {
        waiting: waiting.length,
        oldest_at: isoOrNull(waiting[0]?.requested.requestedAt),
      },
      dead_letters: { last_day: letters.length, latest_at: isoOrNull(letters.at(-1)) },
      servers: reports.map(({ server, state, changed }) => ({ name: server, state, held_back: changed.length })),
      refused: all
        .slice(all.findIndex(({ applied }) => applied === last) + 1)
        .flatMap(({ applied, refused }) => (refused === null ? [] : [{ version: applied.version, why: refused }])),
      today: {
        ...{ runs: ended.length, failures: ended.filter(({ outcome }) => outcome !== 'answer').length },
        tokens: { input: sum(({ tokens }) => tokens.input), output: sum(({ tokens }) => tokens.output) },
        usd: null,
      },
    };
    return 0;
  });
  if (found === undefined) throw new Error('The log said nothing.');
  return found;
}

function rolesOn(bus: Bus, configuration: Configuration | undefined): Promise<InstallationStatus['roles']> {
  const consuming = consumersUnder(configuration);
  return Promise.all(
    consuming.map(async ([role, { group, consumes }]) => {
      try {
        const lags = await bus.groupLag(group, consumes);
        const topics = consumes.map((topic) => ({
          topic,
          lag: lags.filter((one) => one.topic === topic).reduce((total, { records }) => total + records, 0),
        }));
        return { role, ready: null, lag: topics.reduce((total, { lag }) => total + lag, 0), topics, problem: null };
      } catch (error) {
        return { role, ready: null, lag: null, topics: [], problem: (error as Error).message };
      }
    }),
  );
}
