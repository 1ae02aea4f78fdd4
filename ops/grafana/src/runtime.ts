import { dashboardOf } from './dashboard.ts';
import { columns, lines, rows } from './panels.ts';
import { of, orZero, quantile, rate, sumBy } from './queries.ts';

const who = '{{role}} {{instance}}';

export const runtime = dashboardOf({
  name: 'runtime',
  title: 'Runtime',
  description: 'How the processes are: event loop, memory, transactions, partitions.',
  rows: {
    Processes: [
      lines(
        {
          title: 'Event loop delay, 99 % within',
          description:
            'Above 0.1 s a process answers late, heartbeats included: too much work, or something that blocks.',
          unit: 's',
        },
        { expr: of('nodejs_eventloop_lag_p99_seconds'), legend: who },
      ),
      lines(
        { title: 'Processor time', description: 'Of one core. Node uses little more than one.', unit: 'percentunit' },
        { expr: rate('process_cpu_seconds_total'), legend: who },
      ),
      lines(
        { title: 'Resident memory', description: 'What the system gives the process.', unit: 'bytes' },
        { expr: of('process_resident_memory_bytes'), legend: who },
      ),
      lines(
        {
          title: 'Heap',
          description: 'Used by objects. A floor that keeps rising over days is a leak.',
          unit: 'bytes',
        },
        { expr: of('nodejs_heap_size_used_bytes'), legend: who },
      ),
      lines(
        {
          title: 'Clock skew',
          description: 'How far the clock is ahead of the database’s. Beyond a minute a process is not ready.',
          unit: 's',
        },
        { expr: of('sluice_clock_skew_seconds'), legend: who },
      ),
      lines(
        {
          title: 'Uptime',
          description: 'Falls to zero when a process restarts.',
          unit: 's',
        },
        { expr: `time() - ${of('process_start_time_seconds')}`, legend: who },
      ),
      lines(
        {
          title: 'Unhandled errors',
          description: 'Errors that no code handled. The process goes on; its log has each. Above 20 a minute it ends.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('role, instance, kind', rate('sluice_unhandled_errors_total'))),
          legend: `${who}: {{kind}}`,
        },
      ),
      rows(
        {
          title: 'Readiness',
          description: '1: the part can do its work. /health/ready of the instance says why not.',
          unit: 'short',
        },
        of('sluice_ready'),
        ...columns({ role: 'Role', instance: 'Instance', check: 'Part', Value: 'Ready' }),
      ).span(8),
    ],
    Log: [
      lines(
        {
          title: 'Transactions',
          description:
            'Each puts the outputs and acknowledgements of many records on the log. Failed ones are repeated.',
          unit: 'cps',
        },
        {
          expr: sumBy('consumer_group, outcome', rate('sluice_transactions_total')),
          legend: '{{consumer_group}}: {{outcome}}',
        },
      ),
      lines(
        {
          title: 'Duration of a transaction, 95 % within',
          description: 'On Kafka 10 to 30 ms are usual. Much more: the broker is busy or far away.',
          unit: 's',
        },
        { expr: quantile(0.95, 'sluice_transaction_duration_seconds', 'consumer_group'), legend: '{{consumer_group}}' },
      ),
      lines(
        {
          title: 'Records a transaction',
          description: 'On average; grows with the load, which is what keeps it cheap.',
          unit: 'short',
        },
        {
          expr: `${sumBy('consumer_group', rate('sluice_hop_duration_seconds_count'))} / ${sumBy('consumer_group', rate('sluice_transactions_total', 'outcome="committed"'))}`,
          legend: '{{consumer_group}}',
        },
      ),
      lines(
        {
          title: 'Lag by partition',
          description: 'Records that are not finished. One partition alone: one session or one instance is stuck.',
          unit: 'short',
        },
        {
          expr: sumBy('consumer_group, topic, partition', of('sluice_lag_records')),
          legend: '{{consumer_group}}: {{topic}}/{{partition}}',
        },
      ),
      lines(
        {
          title: 'Partitions held',
          description: 'By instance. They should be spread evenly; a partition without an owner is missing here.',
          unit: 'short',
        },
        {
          expr: `count by (consumer_group, instance) (${of('sluice_lag_records')})`,
          legend: '{{consumer_group}} {{instance}}',
        },
      ),
      lines(
        {
          title: 'Rebalances',
          description: 'Rebalances of a group per second: instances came, went or fell silent.',
          unit: 'cps',
        },
        { expr: sumBy('consumer_group', rate('sluice_rebalances_total')), legend: '{{consumer_group}}' },
      ),
      lines(
        {
          title: 'Configurations refused',
          description:
            'A second, while the former one stayed in force: a file with mistakes, or a record on agent.config.',
          unit: 'cps',
        },
        { expr: sumBy('source', rate('sluice_configuration_refused_total')), legend: '{{source}}' },
      ),
      lines(
        {
          title: 'Parts of a configuration that are missing',
          description: 'Tools of the newest configuration whose records are not on agent.config: it waits for them.',
          unit: 'short',
        },
        { expr: sumBy('instance', of('sluice_configuration_parts_missing')), legend: '{{instance}}' },
      ),
      lines(
        {
          title: 'In work',
          description: 'Records taken and not finished. At 1,000 an instance takes no more.',
          unit: 'short',
        },
        {
          expr: sumBy('consumer_group, instance', of('sluice_records_in_flight')),
          legend: '{{consumer_group}} {{instance}}',
        },
      ),
      lines(
        {
          title: 'Settings of topics that differ',
          description: 'From what Sluice needs. What endangers rights or data keeps a service from being ready.',
          unit: 'short',
        },
        {
          expr: orZero(`max by (topic, setting, endangers) (${of('sluice_topic_findings')})`),
          legend: '{{topic}} {{setting}} {{endangers}}',
        },
      ),
      rows(
        {
          title: 'Configuration in force',
          description: 'More than one version for longer than a moment: an instance does not follow agent.config.',
          unit: 'short',
        },
        `count by (version) (${of('sluice_configuration_info')})`,
        ...columns({ version: 'Version', Value: 'Instances' }),
      ).span(8),
    ],
  },
});
