import { dashboardOf } from './dashboard.ts';
import { columns, lines, rows } from './panels.ts';
import { increase, of, quantile, rate, sumBy } from './queries.ts';

const offered = (share: number): string => quantile(share, 'agent_filtered_tools_count');
const filterings = sumBy('', rate('agent_filtered_tools_count_count'));

export const groupsAndStates = dashboardOf({
  name: 'groups-and-states',
  title: 'Groups and states',
  description: 'What callers ask for, what they are offered, and how runs go through the states.',
  rows: {
    Groups: [
      lines(
        {
          title: 'Requests by group',
          description: 'Groups that requests name, after the default. Names that no tool carries count as “other”.',
          unit: 'reqps',
        },
        { expr: sumBy('group', rate('agent_tool_group_requests_total')), legend: '{{group}}' },
      ),
      lines(
        {
          title: 'Tools by group',
          description: 'Configured tools that carry the group. A step is a change of the configuration.',
          unit: 'short',
        },
        { expr: `max by (group) (${of('agent_tool_group_availability')})`, legend: '{{group}}' },
      ),
      lines(
        {
          title: 'Groups refused',
          description: 'Requested groups that the caller was not permitted; the Security dashboard says by whom.',
          unit: 'cps',
        },
        { expr: sumBy('group', rate('agent_group_access_denied_total')), legend: '{{group}}' },
      ),
    ],
    'What is offered': [
      lines(
        {
          title: 'Tools offered in a turn',
          description: 'After the filter by group and state. Many at once cost tokens and make the model choose worse.',
          unit: 'short',
        },
        { expr: offered(0.5), legend: 'median' },
        { expr: offered(0.95), legend: '95 %' },
      ),
      lines(
        {
          title: 'Turns without any tool',
          description: 'Share of the filterings that left nothing: the model has to answer by itself.',
          unit: 'percentunit',
        },
        {
          expr: `${sumBy('', rate('agent_filtered_tools_count_bucket', 'le="0"'))} / ${filterings}`,
          legend: 'without tools',
        },
      ),
      lines(
        {
          title: 'Why tools are hidden',
          description: 'Hidden tools a second, by the first reason. sluice explain shows a single decision.',
          unit: 'cps',
        },
        { expr: sumBy('reason', rate('sluice_hidden_tools_total')), legend: '{{reason}}' },
      ),
    ],
    States: [
      lines(
        {
          title: 'Transitions by tool',
          description: 'Changes of state, by the tool that made them.',
          unit: 'cps',
        },
        { expr: sumBy('tool', rate('agent_state_transitions_total')), legend: '{{tool}}' },
      ),
      lines(
        {
          title: 'Time in a state, 95 % within',
          description: 'Observed when a state is left and at the end of the run.',
          unit: 's',
        },
        { expr: quantile(0.95, 'agent_workflow_duration_seconds', 'state'), legend: '{{state}}' },
      ),
      lines(
        {
          title: 'Tools by state',
          description: 'Configured tools that are available in the state. None: a dead end.',
          unit: 'short',
        },
        { expr: `max by (state) (${of('agent_state_availability')})`, legend: '{{state}}' },
      ),
      rows(
        {
          title: 'The flow: from a state (rows) to a state (columns)',
          description:
            'Changes of state in the time range. One that nobody meant to allow is a gap in the configuration.',
          unit: 'short',
        },
        sumBy('from, to', increase('sluice_state_changes_total')),
        {
          id: 'groupingToMatrix',
          options: { rowField: 'from', columnField: 'to', valueField: 'Value', emptyValue: 'zero' },
        },
      ),
      rows(
        {
          title: 'The busiest transitions',
          description: 'The same as a list, the most frequent first.',
          unit: 'short',
        },
        `topk(20, ${sumBy('from, to', increase('sluice_state_changes_total'))})`,
        ...columns({ from: 'From', to: 'To', Value: 'Changes' }),
      ),
    ],
  },
});
