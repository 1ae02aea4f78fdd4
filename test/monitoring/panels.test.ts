import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTimeout } from '../infra/client.ts';
import { Load } from './load.js';
import { Watching } from './prometheus.js';
import { dashboards, inPlaceOfVariables, panelsOf } from './promql.js';

/** What stands in for no data: here there is to be some. */
const orNothing = ' or on() vector(0)';

/**
 * What this load has none of: its tools need no connections and no file, no dead letter is re-driven, its servers
 * answer every call, by text alone, and say and ask nothing in the middle of one, no selector is asked, its
 * configuration has no rules, no plans and no group that stands in for another, and neither its tools’ results nor its
 * one model have a cache; and it has no subscriptions. Their panels show zero.
 */
const unprovoked = [
  'Credentials asked for',
  'Credentials hidden',
  'Dead letters taken up again',
  'Cancellations',
  'Tool processes that ended in a call',
  'What strategies decide',
  'Weak results of plan steps',
  'Lost calls that the tool was asked about',
  'Input from the cache',
  'What requests are made of',
  'First uses of deferred tools',
  'Models skipped',
  'Failed calls by server',
  'Searches that gave all tools',
  'Records of discovery dropped',
  'Answered from the cache',
  'Loads that rules go by',
  'Groups that stood in for others',
  'Denials that the audit lacks',
  'Requests under hybrid',
  'Runs not begun',
  'Settings of topics that differ',
  'Credentials without groups',
  'Asked by servers',
  'Said by servers',
  'Bytes of content',
  'Notifications taken',
  'Notifications not taken',
  'Oldest notification',
  'Interactions in Slack',
  'Runs by schedules',
  'Due times left out',
  'Late runs',
  'Calls refused by rules',
  'Approvals of several, and escalations',
  'Calls by standing approvals',
  'Lists read',
  'Age of lists',
  'Delay of notifications, 95 % within',
  'Refused by budgets of a span',
  'Ends by agent',
];

describe('real services under a real Prometheus', () => {
  let load: Load;
  let prometheus: Watching;
  beforeAll(async () => {
    [load, prometheus] = await Promise.all([Load.start(), Watching.start()]);
    await prometheus.at({ url: load.system.embedded.url, role: 'all' });
  }, startTimeout);
  afterAll(async () => {
    await prometheus?.release();
    await load?.close();
  });

  /** Again and again until Prometheus has seen it grow over several scrapes. */
  async function work(rounds: number, round: () => Promise<void>): Promise<void> {
    const seen = async (): Promise<number> =>
      (await prometheus.values('sum(sluice_runs_ended_total{outcome="answer"})'))[0] ?? 0;
    for (let n = 0; n < rounds; n++) {
      const before = await seen();
      await round();
      await prometheus.until('the next scrape', async () => (await seen()) > before);
    }
  }

  it('raise no alarm while all is well, and every rule can be evaluated', async () => {
    await work(6, () => load.healthy());
    expect(await prometheus.brokenRules()).toEqual([]);
    expect((await prometheus.alerts()).filter(({ state }) => state === 'firing')).toEqual([]);
  });

  it('show data in every panel of every dashboard, after work and trouble of all kinds', async () => {
    await work(6, async () => {
      await load.healthy();
      await load.trouble();
    });
    await load.park();
    await prometheus.until(
      'the approval that waits',
      async () => (await prometheus.values('max(sluice_approvals_waiting)'))[0] === 1,
    );
    const emptyPanels = async (): Promise<readonly string[]> => {
      const empty: string[] = [];
      for (const [file, dashboard] of dashboards()) {
        for (const { title, targets = [] } of panelsOf(dashboard)) {
          for (const { expr, instant = false } of targets) {
            const asked = inPlaceOfVariables(expr);
            const query = unprovoked.includes(title) ? asked : asked.replaceAll(orNothing, '');
            const values = await prometheus.values(query, instant ? 'now' : 'minute');
            if (values.length === 0) empty.push(`${file}: ${title}: ${expr}`);
          }
        }
      }
      return empty;
    };
    // A scrape that came too late on a busy machine makes what is shown now empty until the next one.
    let empty = await emptyPanels();
    for (let again = 0; empty.length > 0 && again < 5; again++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      empty = await emptyPanels();
    }
    expect(empty).toEqual([]);
  });

  it('raise the alarms that the trouble deserves, with every placeholder filled in', async () => {
    const wanted = ['SluiceDeadLetters', 'SluiceEscalationAttempt', 'SluiceForgedRecords'];
    const firing = async () => (await prometheus.alerts()).filter(({ state }) => state === 'firing');
    const names = async () => new Set((await firing()).map(({ labels }) => labels['alertname']));
    await prometheus.until('the alarms', async () => {
      const now = await names();
      return wanted.every((name) => now.has(name));
    });
    expect([...(await names())].sort()).toEqual(wanted);
    for (const { annotations } of await firing())
      for (const text of Object.values(annotations)) expect(text).not.toMatch(/\{\{|<no value>|%!|: \.$| {2}/);
  });

  it('label what is not configured in a bounded way, whatever callers ask for (G-118, XG-25)', async () => {
    const page = async (): Promise<string> => (await fetch(`${load.system.embedded.url}/metrics`)).text();
    const series = (text: string): readonly string[] =>
      text.split('\n').flatMap((line) => (/^(#|nodejs_|process_|$)/.test(line) ? [] : [line.replace(/ \S+$/, '')]));
    await load.strangers(120);
    const before = new Set(series(await page()));
    await load.strangers(30);
    // A checkpoint is due at its time.
    const known = (one: string): boolean => before.has(one) || one.includes('kind="checkpoint"');
    expect(series(await page()).filter((one) => !known(one))).toEqual([]);
    expect([...before].filter((one) => one.startsWith('sluice_requests_refused_total{')).length).toBeLessThan(110);
  });
});
