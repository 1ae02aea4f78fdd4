import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { GroupTool } from '@sluice/client';
import { configurationQuery } from '../../data/configurations.js';
import { toolsOfGroups, groupsQuery } from '../../data/tools.js';
import { useSignedIn } from '../../session/session-provider.js';
import { EffectTag, effectOptions } from '../../ui/effect.js';
import { Button } from '../../ui/button.js';
import { Select, TextField } from '../../ui/field.js';
import { count } from '../../ui/format.js';
import { Command } from '../../ui/json.js';
import { Page } from '../../ui/page.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { LongTable } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Term } from '../../ui/term.js';
import css from './tools.module.css';
import type { ToolsSearch } from './search.js';

/** Names the choice of everything. */
const any = 'any';

/** The tools of the groups that the reader may ask for. */
export function Tools() {
  const { me } = useSignedIn();
  const groups = useQuery(groupsQuery());
  const view = useQuery({ ...configurationQuery(), enabled: me.is_operator });
  const search = useSearch({ from: '/tools' });
  const navigate = useNavigate({ from: '/tools' });
  const set = (part: Partial<Record<keyof ToolsSearch, string>>): void => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value !== '' && value !== any);
    void navigate({ search: Object.fromEntries(next), replace: true });
  };
  const all = groups.data === undefined ? [] : toolsOfGroups(groups.data, view.data?.tools ?? []);
  const members = groups.data?.groups.find(({ name }) => name === search.group)?.tools.map(({ key }) => key);
  const found = all.filter((tool) => matches(tool, search, members ?? []));
  const options = (names: readonly string[], name: string) => [
    { value: any, label: name },
    ...names.map((each) => ({ value: each, label: each })),
  ];
  return (
    <Page
      title="Tools"
      summary={
        <>
          What the model can be offered, by <Term name="group">groups</Term> that you may ask for. Open one to see what
          it takes, and to call it.
        </>
      }
    >
      <div className={css['filters']}>
        <TextField
          label="Search"
          isLabelHidden
          placeholder="Search by name or description"
          value={search.q ?? ''}
          onChange={(q) => set({ q })}
        />
        <Select
          label="Group"
          isLabelHidden
          value={search.group ?? any}
          onChange={(group) => set({ group })}
          options={options(groups.data?.groups.map(({ name }) => name) ?? [], 'Any group')}
        />
        <Select
          label="Effect"
          isLabelHidden
          value={search.effect ?? any}
          onChange={(effect) => set({ effect })}
          options={[{ value: any, label: 'Any effect' }, ...effectOptions]}
        />
        <Select
          label="Source"
          isLabelHidden
          value={search.source ?? any}
          onChange={(source) => set({ source })}
          options={options([...new Set(all.map(sourceOf))].sort(), 'Any source')}
        />
      </div>
      {groups.isPending && <Loading label="Loading the tools" />}
      {groups.isError && <RequestProblem error={groups.error} again={() => void groups.refetch()} />}
      {groups.isSuccess && all.length === 0 && (
        <Empty title="There is no tool in a group that you may ask for.">
          <p>A configuration names tools under “tool”, and groups under “group” of each. The sample has some:</p>
          <Command text="npx sluice config apply examples/countries/sluice.yaml" />
        </Empty>
      )}
      {all.length > 0 && found.length === 0 && (
        <Empty title="No tool is like this.">
          <Button onPress={() => void navigate({ search: {}, replace: true })}>
            Show all tools ({count(all.length)})
          </Button>
        </Empty>
      )}
      {found.length > 0 && (
        <LongTable
          label="Tools"
          columns={columns}
          items={found}
          keyOf={({ key }) => key}
          end={`${count(found.length)} of ${count(all.length)} tools`}
        />
      )}
    </Page>
  );
}

const columns: readonly Column<GroupTool>[] = [
  {
    id: 'tool',
    name: 'Tool',
    width: 'minmax(0, 1.2fr)',
    cell: ({ key }) => (
      <Link to="/tools/$tool" params={{ tool: key }} title={key}>
        {key}
      </Link>
    ),
  },
  {
    id: 'description',
    name: 'Description',
    width: 'minmax(0, 2.4fr)',
    isMinor: true,
    cell: ({ description }) => <span title={description}>{description}</span>,
  },
  {
    id: 'effect',
    name: <Term name="effect">Effect</Term>,
    width: '150px',
    cell: ({ effect }) => <EffectTag effect={effect} />,
  },
  {
    id: 'groups',
    name: 'Groups',
    width: 'minmax(0, 1.2fr)',
    isMinor: true,
    cell: ({ groups }) => <span title={groups.join(', ')}>{groups.join(', ')}</span>,
  },
  { id: 'source', name: 'Source', width: '130px', isMinor: true, cell: (tool) => <Tag>{sourceOf(tool)}</Tag> },
];

/**
 * Where a tool comes from, by the prefix of its id: `core`, an MCP server as `mcp analysis`, an API as `api pets`, or
 * a folder of files.
 */
function sourceOf({ id }: Pick<GroupTool, 'id'>): string {
  const parts = id.split('__');
  if (parts[0] === 'mcp' && parts.length > 2) return `MCP: ${parts[1]}`;
  if (parts[0] === 'api' && parts.length > 2) return `API: ${parts[1]}`;
  return parts.length > 1 ? (parts[0] ?? id) : 'own';
}

function matches(tool: GroupTool, search: ToolsSearch, members: readonly string[]): boolean {
  const { q, group, effect, source } = search;
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${tool.key} ${tool.id} ${tool.description}`.toLowerCase();
  return (
    words.every((word) => text.includes(word)) &&
    (group === undefined || members.includes(tool.key)) &&
    (effect === undefined || tool.effect === effect) &&
    (source === undefined || sourceOf(tool) === source)
  );
}
