import { useEffect, useState } from 'react';
import type { FormEvent } from 'react';
import { Button } from '../../ui/button.js';
import { Select, TextField } from '../../ui/field.js';
import type { RunFilters } from './search.js';
import css from './runs.module.css';

interface Props {
  readonly filters: RunFilters;
  /** An operator may read other tenants’ runs. */
  readonly isOperator: boolean;
  readonly onChange: (filters: RunFilters) => void;
}

/** How a run is, or ended: `running`, `answer`, or a run error code (docs/errors.md). */
const outcomes = [
  ['', 'Any'],
  ['running', 'Running'],
  ['answer', 'Answer'],
  ['cancelled', 'Cancelled'],
  ['authz_denied', 'Not permitted'],
  ['budget_exceeded', 'Budget used up'],
  ['dead_lettered', 'Dead-lettered'],
  ['deadline_exceeded', 'Deadline exceeded'],
  ['invalid_request', 'Invalid request'],
  ['max_iterations', 'Iterations used up'],
  ['answer_invalid', 'Answer does not fit its schema'],
  ['model_failed', 'Model failed'],
  ['record_quarantined', 'Record quarantined'],
  ['size_exceeded', 'Too much history'],
  ['span_budget_exceeded', 'Budget over a span used up'],
] as const;

const times = [
  ['', 'Any time'],
  ['15m', 'Last 15 minutes'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

/** Which runs are listed. A choice counts at once, what is typed with Enter or the button. */
export function Filters({ filters, isOperator, onChange }: Props) {
  const [draft, setDraft] = useState(filters);
  useEffect(() => setDraft(filters), [filters]);
  const apply = (next: RunFilters): void => {
    const kept = Object.entries(next).flatMap(([name, value]) =>
      value?.trim() ? [[name, value.trim()] as const] : [],
    );
    onChange(Object.fromEntries(kept));
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    apply(draft);
  };
  const field = (name: keyof RunFilters, label: string, placeholder?: string) => (
    <TextField
      label={label}
      value={draft[name] ?? ''}
      onChange={(value) => setDraft({ ...draft, [name]: value })}
      {...(placeholder === undefined ? {} : { placeholder })}
    />
  );
  const choice = (name: 'outcome' | 'since', label: string, options: readonly (readonly [string, string])[]) => (
    <Select
      label={label}
      value={filters[name] ?? ''}
      onChange={(value) => apply({ ...draft, [name]: value })}
      options={withCurrent(options, filters[name]).map(([value, text]) => ({ value, label: text }))}
    />
  );
  return (
    <form className={css['filters']} onSubmit={submit} aria-label="Filters" role="search">
      <div className={css['whole']}>{field('text', 'Words of the question')}</div>
      {choice('since', 'Started', times)}
      {choice('outcome', 'Status', outcomes)}
      {field('user', 'User', 'user:ann')}
      {field('agent', 'Agent', 'default')}
      {field('tool', 'Tool')}
      {field('group', 'Group')}
      {field('state', 'State')}
      {field('session', 'Session')}
      {(isOperator || filters.tenant !== undefined) && field('tenant', 'Tenant')}
      {filters.parent !== undefined && field('parent', 'Run of the caller')}
      <div className={css['buttons']}>
        <Button type="submit">Filter</Button>
        {Object.keys(filters).length > 0 && (
          <Button tone="quiet" onPress={() => onChange({})}>
            Clear
          </Button>
        )}
      </div>
    </form>
  );
}

/** A value of the address that is none of the options is one all the same. */
function withCurrent(
  options: readonly (readonly [string, string])[],
  value: string | undefined,
): readonly (readonly [string, string])[] {
  return value === undefined || options.some(([each]) => each === value) ? options : [...options, [value, value]];
}
