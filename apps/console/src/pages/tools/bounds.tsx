import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ArgumentBound, DescribedRule } from '@sluice/client';
import { configurationQuery } from '../../data/configurations.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Card } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import css from './tools.module.css';

/** For operators: what calls of the tool must be, by which rule, and what else its rules say. */
export function Bounds({ tool }: { readonly tool: string }) {
  const { me } = useSignedIn();
  const { data } = useQuery({ ...configurationQuery(), enabled: me.is_operator });
  const bounds = data?.tools.find(({ key }) => key === tool)?.bounds ?? [];
  const rules = (data?.rules ?? []).filter(({ tools }) => tools.includes(tool));
  if (bounds.length === 0 && rules.length === 0) return null;
  return (
    <Card
      title="Rules on its calls"
      actions={
        <Link to="/policy" search={{ tab: 'matrix' }}>
          All rules
        </Link>
      }
    >
      {bounds.length > 0 && (
        <>
          <p>
            A call outside of these bounds is refused before anybody is asked, and the model reads which argument it
            was.
          </p>
          <Table label="Bounds of arguments" columns={columns} items={bounds} keyOf={nameOf} />
        </>
      )}
      {rules.length > 0 && (
        <dl className={css['rules']}>
          {rules.map((rule) => (
            <InWords key={rule.name} rule={rule} />
          ))}
        </dl>
      )}
    </Card>
  );
}

function InWords({ rule: { name, words } }: { readonly rule: DescribedRule }) {
  return (
    <div>
      <dt>{name}</dt>
      {words.map((sentence) => (
        <dd key={sentence}>{sentence}</dd>
      ))}
    </div>
  );
}

const nameOf = ({ rule, argument }: ArgumentBound): string => `${rule} ${argument}`;

const columns: readonly Column<ArgumentBound>[] = [
  { id: 'argument', name: 'Argument', cell: ({ argument }) => <code>{argument}</code> },
  { id: 'words', name: 'Bound', cell: ({ words }) => words.join(' and ') },
  { id: 'rule', name: 'Rule', cell: ({ rule }) => rule },
  { id: 'whom', name: 'Where', cell: ({ whom }) => whom ?? 'every call' },
];
