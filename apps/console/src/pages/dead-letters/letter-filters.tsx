import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { Filters, TextFilter } from '../../ui/filters.js';
import { sinceOptions } from '../../ui/since.js';
import { letterCodes, letterTopics } from './search.js';

const all = { value: '', label: 'All' };
const options = (values: readonly string[]) => [all, ...values.map((value) => ({ value, label: value }))];

interface Props {
  readonly isReading: boolean;
  readonly onRefresh: () => void;
}

/** Each filter stands in the address. */
export function LetterFilters({ isReading, onRefresh }: Props) {
  const search = useSearch({ from: '/dead-letters' });
  const navigate = useNavigate({ from: '/dead-letters' });
  const set = (name: string, value: string | undefined): void =>
    void navigate({
      search: ({ letter: _, ...before }) => ({ ...before, [name]: value === '' ? undefined : value }),
      replace: true,
    });
  const { since, code, topic, service, session_id: session } = search;
  return (
    <Filters label="Filters of dead letters">
      <Select
        label="Time"
        value={since ?? ''}
        options={sinceOptions(since)}
        onChange={(value) => set('since', value)}
      />
      <Select label="Code" value={code ?? ''} options={options(letterCodes)} onChange={(value) => set('code', value)} />
      <Select
        label="Topic"
        value={topic ?? ''}
        options={options(letterTopics)}
        onChange={(value) => set('topic', value)}
      />
      <TextFilter label="Service" value={service} placeholder="executor" onChange={(value) => set('service', value)} />
      <TextFilter
        label="Session"
        value={session}
        placeholder="its session_id"
        onChange={(value) => set('session_id', value)}
      />
      <Button isDisabled={isReading} onPress={onRefresh}>
        Refresh
      </Button>
    </Filters>
  );
}
