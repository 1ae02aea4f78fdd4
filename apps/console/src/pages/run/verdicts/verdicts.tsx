import type { Run, ToolVerdict, VerdictList } from '@sluice/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { Select, TextField } from '../../../ui/field.js';
import { count } from '../../../ui/format.js';
import { Empty, Loading, Note, RequestProblem } from '../../../ui/states.js';
import { LongTable } from '../../../ui/table.js';
import type { Column } from '../../../ui/table.js';
import { Term } from '../../../ui/term.js';
import { matrixOf, toolsOf } from './matrix.js';
import type { MatrixColumn } from './matrix.js';
import { VerdictDetails } from './verdict-details.js';
import css from './verdicts.module.css';

interface Props {
  readonly verdicts: UseQueryResult<VerdictList>;
  readonly run: Run;
}

const columnsShown = 10;

/** Every tool at each iteration: offered, or hidden and why. */
export function Verdicts({ verdicts, run }: Props) {
  const { data, error, refetch } = verdicts;
  if (data !== undefined && data.iterations.length > 0) return <Matrix list={data} run={run} />;
  if (error !== null) return <RequestProblem error={error} again={() => void refetch()} />;
  if (data === undefined && run.status === 'ended' && run.iterations === 0)
    return <Empty title="No iteration began.">The filter refused the request before it decided about tools.</Empty>;
  return <Loading label="Waiting for the first decision" />;
}

function Matrix({ list, run }: { readonly list: VerdictList; readonly run: Run }) {
  const matrix = useMemo(() => matrixOf(list.iterations), [list]);
  const called = useMemo(() => new Set((run.tool_calls ?? []).map(({ tool }) => tool)), [run.tool_calls]);
  const [text, setText] = useState('');
  const [which, setWhich] = useState('all');
  const [start, setStart] = useState(0);
  const [selected, setSelected] = useState<{ readonly key: string; readonly from: number } | null>(null);
  const tools = toolsOf(matrix, { text, which }, called);
  const shown = matrix.columns.slice(start, start + columnsShown);
  const codes = [...new Set(matrix.tools.flatMap(({ key }) => codesOf(key, matrix.columns)))].sort();
  const leftOut = Math.max(0, ...list.iterations.map(({ left_out: left }) => left));
  const column = matrix.columns.find(({ from }) => from === selected?.from);
  const verdict = selected === null ? undefined : column?.verdicts?.get(selected.key);
  return (
    <>
      <div className={css['filters']}>
        <TextField label="Tool" value={text} onChange={setText} placeholder="Part of a name" />
        <Select
          label="Show"
          value={which}
          onChange={setWhich}
          options={[
            { value: 'all', label: 'All tools' },
            { value: 'offered', label: 'Offered in some iteration' },
            { value: 'hidden', label: 'Never offered' },
            { value: 'called', label: 'Called' },
            ...codes.map((code) => ({ value: code, label: `Hidden by ${code}` })),
          ]}
        />
        {matrix.columns.length > columnsShown && (
          <div className={css['pager']}>
            <Button isSmall isDisabled={start === 0} onPress={() => setStart(Math.max(0, start - columnsShown))}>
              Earlier
            </Button>
            <span>
              Iterations {shown[0]?.from}–{shown.at(-1)?.to} of {list.iterations.at(-1)?.iteration}
            </span>
            <Button
              isSmall
              isDisabled={start + columnsShown >= matrix.columns.length}
              onPress={() => setStart(start + columnsShown)}
            >
              Later
            </Button>
          </div>
        )}
      </div>
      {leftOut > 0 && <Note>{count(leftOut)} more tools stand in the answer for one iteration alone.</Note>}
      {matrix.tools.length === 0 ? (
        <Empty title="The tools of then are not known.">The configuration that decided is gone.</Empty>
      ) : (
        <div className={css['split']}>
          <LongTable
            label="Tools at each iteration"
            columns={columnsOf(shown, { called, selected, onSelect: setSelected })}
            items={tools}
            keyOf={({ key }) => key}
            end={
              tools.length === 0 ? 'No tool matches.' : `${count(tools.length)} of ${count(matrix.tools.length)} tools`
            }
          />
          <VerdictDetails verdict={verdict ?? null} column={column ?? null} />
        </div>
      )}
    </>
  );
}

const codesOf = (key: string, columns: readonly MatrixColumn[]): readonly string[] =>
  columns.flatMap(({ verdicts }) => verdicts?.get(key)?.reasons.map(({ code }) => code) ?? []);

interface Cells {
  readonly called: ReadonlySet<string>;
  readonly selected: { readonly key: string; readonly from: number } | null;
  readonly onSelect: (selected: { readonly key: string; readonly from: number }) => void;
}

function columnsOf(
  shown: readonly MatrixColumn[],
  { called, selected, onSelect }: Cells,
): readonly Column<ToolVerdict>[] {
  return [
    {
      id: 'tool',
      name: <Term name="verdict">Tool</Term>,
      width: 'minmax(150px, 1fr)',
      cell: ({ key, title }) => (
        <span title={title}>
          <code>{key}</code>
          {called.has(key) && <span className={css['called']}> called</span>}
        </span>
      ),
    },
    ...shown.map((column, n): Column<ToolVerdict> => ({
      id: String(column.from),
      name: (
        <span title={`State ${column.iteration.state}`}>
          {column.from === column.to ? column.from : `${column.from}–${column.to}`}
          <span className={css['state']}>{column.iteration.state}</span>
        </span>
      ),
      width: 'minmax(76px, 110px)',
      isMinor: n < shown.length - 1,
      cell: ({ key }) => {
        const verdict = column.verdicts?.get(key);
        if (verdict === undefined) return <span className={css['unknown']}>·</span>;
        const isSelected = selected?.key === key && selected.from === column.from;
        return (
          <button
            type="button"
            className={`${css['cell']} ${verdict.offered ? css['offered'] : css['hidden']}`}
            aria-pressed={isSelected}
            onClick={() => onSelect({ key, from: column.from })}
          >
            {verdict.offered ? 'offered' : (verdict.reasons[0]?.code ?? 'hidden')}
            {verdict.reasons.length > 1 && ` +${verdict.reasons.length - 1}`}
          </button>
        );
      },
    })),
  ];
}
