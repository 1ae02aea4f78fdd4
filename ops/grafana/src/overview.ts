import { dashboardOf } from './dashboard.ts';
import { figure, lines } from './panels.ts';
import { increase, of, orZero, quantile, rate, sumBy } from './queries.ts';

const ended = rate('sluice_runs_ended_total');
const failed = rate('sluice_runs_ended_total', 'outcome!="answer"');

export const overview = dashboardOf({
  name: 'overview',
  title: 'Overview',
  description: 'Whether requests are answered, how fast, and where they wait.',
  rows: {
    Now: [
      figure(
        {
          title: 'Instances',
          description: 'Processes that Prometheus reaches. The others are down, or cut off from it.',
          unit: 'short',
        },
        sumBy('', of('up')),
      ),
      figure(
        {
          title: 'Requests',
          description: 'AgentRequests that the filter is through with, a second; duplicates and refusals included.',
          unit: 'reqps',
        },
        sumBy('', rate('sluice_hop_duration_seconds_count', 'consumer_group="filter"', 'topic="agent.requests"')),
      ),
      figure(
        {
          title: 'Ends in an error',
          description: 'Share of the runs that ended without an answer. What the caller did wrong counts too.',
          unit: 'percentunit',
        },
        `${sumBy('', failed)} / ${sumBy('', ended)}`,
        0.05,
      ),
      figure(
        {
          title: 'Run, 95 % within',
          description: 'From when the filter took a request until its answer or error.',
          unit: 's',
        },
        quantile(0.95, 'sluice_run_duration_seconds'),
      ),
      figure(
        {
          title: 'Backlog',
          description: 'Records on the log that no service has finished yet: received minus finished.',
          unit: 'short',
        },
        sumBy('', of('sluice_lag_records')),
        1_000,
      ),
      figure(
        {
          title: 'Dead letters',
          description: 'Records dead-lettered in the time range. Each is on agent.dead-letters with its reason.',
          unit: 'short',
        },
        sumBy('', increase('sluice_dead_letters_total')),
        1,
      ),
      figure(
        {
          title: 'Approvals waiting',
          description: 'Calls that are parked until an approver decides. Every executor counts them all.',
          unit: 'short',
        },
        orZero(`max(${of('sluice_approvals_waiting')})`),
      ),
      figure(
        {
          title: 'Alerts firing',
          description: 'Of the rules in ops/prometheus/rules; docs/runbooks.md says what to do about each.',
          unit: 'short',
        },
        orZero('count(ALERTS{alertname=~"Sluice.*", alertstate="firing"})'),
        1,
      ),
    ],
    Runs: [
      lines(
        {
          title: 'Requests and ends',
          description: 'In a steady state, as many runs end as begin. A gap that stays is work that piles up.',
          unit: 'reqps',
        },
        {
          expr: sumBy(
            '',
            rate('sluice_hop_duration_seconds_count', 'consumer_group="filter"', 'topic="agent.requests"'),
          ),
          legend: 'requests',
        },
        { expr: sumBy('', rate('sluice_runs_ended_total', 'outcome="answer"')), legend: 'answers' },
        { expr: sumBy('', failed), legend: 'errors' },
      ),
      lines(
        {
          title: 'Errors by code',
          description: 'Why runs ended without an answer; docs/errors.md has the meaning and the remedy of each code.',
          unit: 'reqps',
        },
        { expr: sumBy('outcome', failed), legend: '{{outcome}}' },
      ),
      lines(
        {
          title: 'Ends by agent',
          description: 'Answers and errors of each agent of the configuration.',
          unit: 'reqps',
        },
        { expr: orZero(sumBy('agent, kind', rate('sluice_agent_runs_ended_total'))), legend: '{{agent}}: {{kind}}' },
      ),
      lines(
        {
          title: 'Begun by door',
          description: 'Runs that began, by how their requests came.',
          unit: 'reqps',
        },
        { expr: sumBy('door', rate('sluice_runs_begun_total')), legend: '{{door}}' },
      ),
      lines(
        {
          title: 'Run duration',
          description: 'All iterations of a run together, with the model, the tools and the time spent waiting.',
          unit: 's',
        },
        { expr: quantile(0.5, 'sluice_run_duration_seconds'), legend: 'median' },
        { expr: quantile(0.95, 'sluice_run_duration_seconds'), legend: '95 %' },
        { expr: quantile(0.99, 'sluice_run_duration_seconds'), legend: '99 %' },
      ),
    ],
    'Over HTTP': [
      lines(
        {
          title: 'Requests by status',
          description: 'What the gateway answered: 2xx for runs and tools, 4xx for what the caller has to change.',
          unit: 'reqps',
        },
        { expr: orZero(sumBy('status', rate('sluice_http_requests_total'))), legend: '{{status}}' },
      ),
      lines(
        {
          title: 'Runs not begun',
          description: 'Refused by a door, since their tenant had as many open runs as limits.open_runs permits.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('tenant, door', rate('sluice_runs_not_begun_total'))), legend: '{{tenant}} {{door}}' },
      ),
      lines(
        {
          title: 'Runs followed',
          description: 'Callers that wait for a run or follow its stream, by instance.',
          unit: 'short',
        },
        { expr: orZero(of('sluice_followed_runs')), legend: '{{instance}}' },
      ),
    ],
    Hops: [
      lines(
        {
          title: 'Latency by hop, 95 % within',
          description:
            'From a record’s append to the commit of its outputs: waiting, work and transaction. The agent’s holds the model, the executor’s the tools.',
          unit: 's',
        },
        {
          expr: quantile(0.95, 'sluice_hop_duration_seconds', 'consumer_group, topic'),
          legend: '{{consumer_group}}: {{topic}}',
        },
      ),
      lines(
        {
          title: 'Backlog by service',
          description:
            'Records that the service has not finished, whether or not it has an instance. Growing for long: it needs more instances.',
          unit: 'short',
        },
        {
          expr: `sum by (consumer_group) (max by (consumer_group, topic) (${of('sluice_group_lag_records')}))`,
          legend: '{{consumer_group}}',
        },
      ),
      lines(
        {
          title: 'In work',
          description: 'Records that were taken from the log and are being handled or committed.',
          unit: 'short',
        },
        { expr: sumBy('consumer_group', of('sluice_records_in_flight')), legend: '{{consumer_group}}' },
      ),
      lines(
        {
          title: 'Dead letters by topic and code',
          description: 'Records dead-lettered, a second. docs/errors.md lists the faults.',
          unit: 'cps',
        },
        {
          expr: orZero(`${sumBy('topic, code', rate('sluice_dead_letters_total'))} > 0`),
          legend: '{{topic}} {{code}}',
        },
      ),
      lines(
        {
          title: 'Dead letters taken up again',
          description: 'Re-driven by an operator and taken by the service of their topic.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('topic', rate('sluice_redriven_records_total'))), legend: '{{topic}}' },
      ),
      lines(
        {
          title: 'Cancellations',
          description: 'Runs that their callers cancelled, and cancellations that do not count, by the reason.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('outcome', rate('sluice_cancellations_total'))), legend: '{{outcome}}' },
      ),
      lines(
        {
          title: 'Requests sent twice',
          description: 'Dropped because their request_id had been taken: an upstream system repeats itself.',
          unit: 'reqps',
        },
        { expr: sumBy('', rate('sluice_duplicate_requests_total')), legend: 'duplicates' },
      ),
      lines(
        {
          title: 'Records through',
          description: 'What each service finishes a second.',
          unit: 'cps',
        },
        { expr: sumBy('consumer_group', rate('sluice_hop_duration_seconds_count')), legend: '{{consumer_group}}' },
      ),
    ],
  },
});
