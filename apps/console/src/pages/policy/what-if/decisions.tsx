import { Link } from '@tanstack/react-router';
import type { DifferingDecision } from '@sluice/client';
import { useSignedIn } from '../../../session/session-provider.js';
import { count } from '../../../ui/format.js';
import { LongTable } from '../../../ui/table.js';
import type { Column } from '../../../ui/table.js';
import { Tag } from '../../../ui/tag.js';
import { factsInWords } from '../../run/timeline/judged-by.js';
import css from './what-if.module.css';

/** The decisions that would be otherwise, each leading to its run. */
export function Decisions({ decisions }: { readonly decisions: readonly DifferingDecision[] }) {
  const { me } = useSignedIn();
  return (
    <LongTable
      label="Decisions that would be otherwise"
      columns={columnsFor(me.tenant)}
      items={decisions}
      keyOf={({ topic, partition, offset, kind, tool }) => `${topic} ${partition} ${offset} ${kind} ${tool ?? ''}`}
      end={decisions.length === 1 ? 'One difference' : `${count(decisions.length)} differences`}
    />
  );
}

function columnsFor(ownTenant: string): readonly Column<DifferingDecision>[] {
  return [
    {
      id: 'what',
      name: 'Tool',
      width: 'minmax(0, 1.1fr)',
      cell: ({ tool, kind }) => <span title={tool ?? kind}>{tool ?? `the ${kind}`}</span>,
    },
    {
      id: 'change',
      name: 'From → to',
      width: 'minmax(0, 1.6fr)',
      cell: ({ before, after, rule, facts }) => (
        <span className={css['change']} title={titleOf(before, after, facts)}>
          <Tag tone={toneOf(before)}>{before.verdict}</Tag> → <Tag tone={toneOf(after)}>{after.verdict}</Tag>{' '}
          {rule !== null && <strong>{rule} </strong>}
          {factsInWords(facts).map(({ name, value }) => `${name}: ${value}. `)}
          {[...before.reasons, ...after.reasons].map(({ text }) => text).join(' ')}
        </span>
      ),
    },
    {
      id: 'state',
      name: 'State',
      width: 'minmax(0, 0.7fr)',
      isMinor: true,
      cell: ({ state }) => <span title={state}>{state}</span>,
    },
    {
      id: 'user',
      name: 'User',
      width: 'minmax(0, 0.8fr)',
      isMinor: true,
      cell: ({ user }) => <span title={user ?? ''}>{user ?? '–'}</span>,
    },
    {
      id: 'run',
      name: 'Run',
      width: '150px',
      isMinor: true,
      cell: ({ request_id: id, iteration, tenant }) => (
        <Link
          to="/runs/$requestId"
          params={{ requestId: id }}
          search={{ tab: 'tools', ...(tenant === null || tenant === ownTenant ? {} : { tenant }) }}
          title={id}
        >
          {id.slice(0, 8)}
          {iteration !== null && `, iteration ${iteration}`}
        </Link>
      ),
    },
  ];
}

type Side = DifferingDecision['before'];

const good: readonly string[] = ['offered', 'made', 'goes on', 'counts'];
const bad: readonly string[] = ['hidden', 'refused', 'ends', 'does not count'];

function toneOf({ verdict }: Side): 'good' | 'bad' | 'note' {
  if (good.includes(verdict)) return 'good';
  return bad.includes(verdict) ? 'bad' : 'note';
}

function titleOf(before: Side, after: Side, facts: DifferingDecision['facts']): string {
  const judgedBy = factsInWords(facts).map(({ name, value }) => `${name}: ${value}`);
  return [`${sideOf(before)} → ${sideOf(after)}`, ...judgedBy].join('\n');
}

function sideOf({ verdict, reasons }: Side): string {
  return [verdict, ...reasons.map(({ text }) => text)].join(': ');
}
