import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { GroupStateMatrix } from '@sluice/client';
import { matrixQuery } from '../../data/configurations.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { count } from '../../ui/format.js';
import { Card } from '../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { Term } from '../../ui/term.js';
import css from './matrix.module.css';
import { Rules } from './rules.js';

/** Rows that are drawn at first, and names of a cell. */
const firstRows = 60;
const firstNames = 4;

/** For each group and state the tools that a run is offered, and below it every rule in words. */
export function Matrix() {
  const matrix = useQuery(matrixQuery());
  if (matrix.isPending) return <Loading label="Loading the policy" />;
  if (matrix.isError) return <RequestProblem error={matrix.error} again={() => void matrix.refetch()} />;
  return (
    <>
      <Card title="Groups and states">
        <p className={css['about']}>
          The tools that a run which asks for a <Term name="group">group</Term> is offered in a{' '}
          <Term name="state">state</Term>, before the rules below.
        </p>
        {matrix.data.groups.length === 0 ? (
          <Empty title="No tool is in a group.">
            <p>Name the groups of a tool under “group”. A run that asks for “*” is offered tools without one, too.</p>
          </Empty>
        ) : (
          <Cells matrix={matrix.data} />
        )}
        {matrix.data.left_out > 0 && (
          <Note tone="warn">{count(matrix.data.left_out)} cells were left out to keep the answer small.</Note>
        )}
      </Card>
      <Rules />
    </>
  );
}

function Cells({ matrix }: { readonly matrix: GroupStateMatrix }) {
  const { q = '' } = useSearch({ from: '/policy' });
  const navigate = useNavigate({ from: '/policy' });
  const [rows, setRows] = useState(firstRows);
  const cells = new Map(matrix.cells.map(({ group, state, tools }) => [`${group}\n${state}`, tools]));
  const has = (name: string): boolean => name.toLowerCase().includes(q.toLowerCase());
  const groups = matrix.groups.filter(
    (group) => has(group) || matrix.cells.some((cell) => cell.group === group && cell.tools.some(has)),
  );
  const setQuery = (next: string): void =>
    void navigate({
      search: ({ q: _, ...search }) => (next === '' ? search : { ...search, q: next }),
      replace: true,
    });
  return (
    <>
      {matrix.groups.length > 8 && (
        <TextField
          label="Find a group or a tool"
          isLabelHidden
          placeholder="Find a group or a tool"
          value={q}
          onChange={setQuery}
        />
      )}
      <div className={css['scroll']} tabIndex={0} role="region" aria-label="Groups and states">
        <table className={css['matrix']}>
          <caption className="visually-hidden">The tools offered for each group in each state</caption>
          <thead>
            <tr>
              <th scope="col">Group</th>
              {matrix.states.map((state) => (
                <th key={state} scope="col">
                  {state}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, rows).map((group) => (
              <tr key={group}>
                <th scope="row">{group}</th>
                {matrix.states.map((state) => (
                  <td key={state}>
                    <Names tools={cells.get(`${group}\n${state}`) ?? []} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {groups.length === 0 && <p>No group and no tool is named like this.</p>}
      {groups.length > rows && (
        <div>
          <Button isSmall onPress={() => setRows(rows + 200)}>
            Show more of {count(groups.length)} groups
          </Button>
        </div>
      )}
    </>
  );
}

function Names({ tools }: { readonly tools: readonly string[] }) {
  const [isOpen, setIsOpen] = useState(false);
  if (tools.length === 0)
    return (
      <span className={css['none']}>
        <span aria-hidden="true">–</span>
        <span className="visually-hidden">no tool</span>
      </span>
    );
  const shown = isOpen ? tools : tools.slice(0, firstNames);
  return (
    <ul className={css['names']}>
      {shown.map((key) => (
        <li key={key}>
          <Link to="/tools/$tool" params={{ tool: key }}>
            {key}
          </Link>
        </li>
      ))}
      {tools.length > shown.length && (
        <li>
          <Button tone="quiet" isSmall onPress={() => setIsOpen(true)}>
            {tools.length - shown.length} more
          </Button>
        </li>
      )}
    </ul>
  );
}
