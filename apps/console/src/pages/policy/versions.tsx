import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ListedConfiguration } from '@sluice/client';
import { asTyped } from '../../data/command-names.js';
import { shownVersions, versionsQuery } from '../../data/configurations.js';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { Card, Columns } from '../../ui/page.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';
import { Differences } from './differences.js';

/** Names the version before the one that is looked at. */
const before = ' ';

/** The configurations that were put in force, and what two of them have otherwise. */
export function Versions() {
  const versions = useQuery(versionsQuery());
  const search = useSearch({ from: '/policy' });
  const navigate = useNavigate({ from: '/policy' });
  if (versions.isPending) return <Loading label="Loading the versions" />;
  if (versions.isError) return <RequestProblem error={versions.error} again={() => void versions.refetch()} />;
  const items = versions.data;
  if (items.length === 0)
    return (
      <Empty title="No configuration was applied yet.">
        <p>A version stands here as soon as one is put in force.</p>
      </Empty>
    );
  const version = search.version ?? items.find(({ in_force: inForce }) => inForce)?.config_version ?? 'current';
  const show = (part: { readonly version?: string; readonly from?: string }): void =>
    void navigate({
      search: ({ version: _v, from: _f, ...rest }) => ({
        ...rest,
        version,
        ...(search.from && { from: search.from }),
        ...part,
      }),
    });
  const names = [...new Set(items.filter(({ refused }) => refused === null).map((each) => each.config_version))];
  const options = names.map((name) => ({ value: name, label: nameOf(name, items) }));
  return (
    <>
      <Card title="Versions">
        <Table
          label="Versions"
          columns={columnsFor((name) => show({ version: name }))}
          items={items}
          keyOf={({ config_version: name, applied_at: at }) => `${name} ${at}`}
        />
        {items.length === shownVersions && <p>Older ones are on the log: {asTyped('npx sluice config list')}.</p>}
      </Card>
      <Card title="Compare two versions">
        <Columns>
          <Select
            label="Version"
            value={version}
            onChange={(name) => show({ version: name })}
            options={names.includes(version) ? options : [{ value: version, label: version }, ...options]}
          />
          <Select
            label="Compared with"
            value={search.from ?? before}
            onChange={(from) =>
              void navigate({
                search: ({ from: _, ...rest }) => (from === before ? { ...rest, version } : { ...rest, version, from }),
              })
            }
            options={[{ value: before, label: 'the one in force before it' }, ...options]}
          />
        </Columns>
        <Differences version={version} from={search.from} />
      </Card>
    </>
  );
}

function nameOf(name: string, items: readonly ListedConfiguration[]): string {
  const found = items.find((each) => each.config_version === name);
  return found?.in_force === true ? `${name} (in force)` : name;
}

function columnsFor(compare: (version: string) => void): readonly Column<ListedConfiguration>[] {
  return [
    {
      id: 'version',
      name: 'Version',
      cell: ({ config_version: name, in_force: inForce, refused }) => (
        <span>
          <code>{name}</code> {inForce && <Tag tone="good">in force</Tag>}
          {refused !== null && <Tag tone="bad">refused</Tag>}
        </span>
      ),
    },
    { id: 'applied', name: 'Applied', cell: ({ applied_at: at }) => <Moment at={at} /> },
    { id: 'tools', name: 'Tools', cell: ({ tools }) => tools ?? '–', isNumber: true, isMinor: true },
    {
      id: 'source',
      name: 'Source',
      isMinor: true,
      cell: ({ source, refused }) => <span title={refused ?? source}>{refused ?? source}</span>,
    },
    {
      id: 'compare',
      name: <span className="visually-hidden">Compare</span>,
      isMinor: true,
      cell: ({ config_version: name, refused }) =>
        refused === null && (
          <Button tone="quiet" isSmall aria-label={`Changes of ${name}`} onPress={() => compare(name)}>
            Changes
          </Button>
        ),
    },
  ];
}
