import { useNavigate, useSearch } from '@tanstack/react-router';
import { Select } from '../../ui/field.js';
import { Filters, TextFilter } from '../../ui/filters.js';
import { sinceOptions } from '../../ui/since.js';
import { auditKinds } from './search.js';
import type { AuditKind } from './search.js';

const texts = [
  ['tool', 'Tool', 'knowledge-query'],
  ['outcome', 'Outcome', 'ok, denied …'],
  ['user', 'User', 'user:ann'],
  ['request_id', 'Run', 'its request_id'],
  ['session_id', 'Session', 'its session_id'],
] as const;

const kindOptions = [
  { value: '' as AuditKind | '', label: 'All' },
  ...(Object.entries(auditKinds) as [AuditKind, string][]).map(([value, label]) => ({ value, label })),
];

/** Each filter stands in the address. */
export function AuditFilters() {
  const search = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const set = (name: string, value: string | undefined): void =>
    void navigate({
      search: ({ entry: _, ...before }) => ({ ...before, [name]: value === '' ? undefined : value }),
      replace: true,
    });
  return (
    <Filters label="Filters of the audit">
      <Select
        label="Time"
        value={search.since ?? ''}
        options={sinceOptions(search.since)}
        onChange={(value) => set('since', value)}
      />
      <Select label="Kind" value={search.kind ?? ''} options={kindOptions} onChange={(value) => set('kind', value)} />
      {texts.map(([name, label, placeholder]) => (
        <TextFilter
          key={name}
          label={label}
          value={search[name]}
          placeholder={placeholder}
          onChange={(value) => set(name, value)}
        />
      ))}
    </Filters>
  );
}
