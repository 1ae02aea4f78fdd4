import { useQuery } from '@tanstack/react-query';
import type { ConfigurationFinding } from '@sluice/client';
import { configurationQuery, findingsQuery } from '../../data/configurations.js';
import { count } from '../../ui/format.js';
import { Card } from '../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import css from './rules.module.css';

/** What is legal in the configuration in force and worth knowing. */
export function Findings() {
  const view = useQuery(configurationQuery());
  const findings = useQuery({ ...findingsQuery(view.data?.text ?? null), enabled: !view.isPending });
  if (view.isPending || findings.isPending) return <Loading label="Looking for findings" />;
  if (findings.isError) return <RequestProblem error={findings.error} again={() => void findings.refetch()} />;
  const { findings: found, left_out: left } = findings.data;
  if (found.length === 0)
    return (
      <Empty title="There is nothing to find.">
        <p>No state is a dead end, every tool can be reached, and no grant is wider than it has to be.</p>
      </Empty>
    );
  const source = view.data?.source ?? 'the configuration';
  return (
    <Card title={found.length === 1 ? 'One finding' : `${count(found.length)} findings`}>
      <p className={css['source']}>
        In <code>{source}</code>. They are legal, and each is something that an author will want to know.
      </p>
      <Table
        label="Findings"
        columns={columns}
        items={found}
        keyOf={({ kind, path, message }) => `${kind} ${path} ${message}`}
      />
      {left > 0 && <Note tone="warn">{count(left)} more were left out to keep the answer small.</Note>}
    </Card>
  );
}

const columns: readonly Column<ConfigurationFinding>[] = [
  { id: 'kind', name: 'Finding', cell: ({ kind }) => <Tag tone="warn">{kind.replaceAll('_', ' ')}</Tag> },
  { id: 'message', name: 'What it is', cell: ({ message }) => message },
  { id: 'path', name: 'Where', cell: ({ path }) => <code>{path}</code>, isMinor: true },
  { id: 'line', name: 'Line', cell: ({ line }) => line ?? '–', isNumber: true },
];
