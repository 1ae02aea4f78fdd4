import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { configurationQuery, explanationQuery } from '../../data/configurations.js';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { Loading, Note, RequestProblem } from '../../ui/states.js';
import css from './caller.module.css';
import { channels, namesOf, requestOf } from './caller-request.js';
import { PickNames } from './pick-names.js';
import type { PolicySearch } from './search.js';
import { SettledField } from './settled-field.js';
import { Verdicts } from './verdicts.js';

/** Names the choice of what is not known. */
const any = ' ';

type Part = Partial<Record<Exclude<keyof PolicySearch, 'tab'>, string>>;

/** Every tool’s verdict for a caller that the reader describes. */
export function Caller() {
  const search = useSearch({ from: '/policy' });
  const navigate = useNavigate({ from: '/policy' });
  const view = useQuery(configurationQuery());
  const explanation = useQuery(explanationQuery(requestOf(search)));
  const set = (part: Part): void => {
    const entries = Object.entries({ ...search, ...part }).filter(([, value]) => value !== '' && value !== any);
    void navigate({ search: { tab: 'caller', ...Object.fromEntries(entries) }, replace: true });
  };
  const groups = view.data?.groups.map(({ name }) => name) ?? [];
  const states = view.data?.states.map(({ name }) => name) ?? [];
  return (
    <>
      <Card
        title="The caller and its request"
        actions={<Button isSmall onPress={() => void navigate({ search: { tab: 'caller' } })}>Clear</Button>} // prettier-ignore
      >
        <p className={css['about']}>What is left out counts as not known; verdicts that depend on it say so.</p>
        <div className={css['fields']}>
          <PickNames
            label="Groups asked for"
            names={namesOf(search.group)}
            options={groups}
            none="All (*)"
            onChange={(names) => set({ group: names.join(',') })}
          />
          <Select
            label="State"
            value={search.state ?? 'undefined'}
            onChange={(state) => set({ state: state === 'undefined' ? '' : state })}
            options={(states.length === 0 ? ['undefined'] : states).map((name) => ({ value: name, label: name }))}
          />
          <Select
            label="Channel"
            value={search.channel ?? any}
            onChange={(channel) => set({ channel })}
            options={[{ value: any, label: 'Not known' }, ...channels.map((name) => ({ value: name, label: name }))]}
          />
          <SettledField
            label="Time"
            type="datetime-local"
            value={search.at ?? ''}
            onSettle={(at) => set({ at })}
            description="Empty: now."
          />
          <SettledField
            label="User"
            value={search.user ?? ''}
            onSettle={(user) => set({ user })}
            placeholder="user:ann"
          />
          <SettledField
            label="Tenant"
            value={search.tenant ?? ''}
            onSettle={(tenant) => set({ tenant })}
            placeholder="default"
          />
          <SettledField
            label="Roles"
            value={search.roles ?? ''}
            onSettle={(roles) => set({ roles })}
            placeholder="analyst, editor"
            description="With commas between. Empty: every group may be asked for."
          />
          <SettledField
            label="Claims"
            value={search.claims ?? ''}
            onSettle={(claims) => set({ claims })}
            placeholder="department=sales, support; level=2"
            description="Of the credential, with semicolons between."
          />
          <SettledField
            label="Question"
            value={search.question ?? ''}
            onSettle={(question) => set({ question })}
            placeholder="Which countries border France?"
          />
        </div>
      </Card>
      {explanation.isPending && <Loading label="Deciding" />}
      {explanation.isError && <RequestProblem error={explanation.error} again={() => void explanation.refetch()} />}
      {explanation.isSuccess && (
        <>
          {explanation.data.refusal !== null && (
            <Note tone="bad">The request would be refused: {explanation.data.refusal}</Note>
          )}
          {explanation.data.warnings.map(({ message }) => (
            <Note key={message} tone="warn">
              {message}
            </Note>
          ))}
          {explanation.data.fallback_groups.length > 0 && (
            <Note>Groups that stand in: {explanation.data.fallback_groups.join(', ')}.</Note>
          )}
          <Verdicts tools={explanation.data.tools} />
        </>
      )}
    </>
  );
}
