import type { ReactNode } from 'react';
import { Button } from '../../../ui/button.js';
import { Checkbox, Select, TextArea, TextField } from '../../../ui/field.js';
import { draftOf, partOf, pathOf } from './draft.js';
import type { Draft, FieldProblem } from './draft.js';
import type { Field } from './fields.js';
import css from './form.module.css';

/** Names the choice of nothing. */
const none = 'none';

interface Common {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly problems: readonly FieldProblem[];
  readonly path: string;
}

interface FormProps extends Common {
  readonly fields: readonly Field[];
}

/** The fields of a tool’s arguments, which hold nothing themselves. */
export function FormFields({ fields, draft, onChange, problems, path }: FormProps) {
  return (
    <div className={css['fields']}>
      {fields.map((field) => (
        <FormField
          key={field.name}
          field={field}
          draft={partOf(draft, field.name)}
          path={pathOf(path, field.name)}
          problems={problems}
          onChange={(part) => onChange({ ...(typeof draft === 'object' ? draft : {}), [field.name]: part })}
        />
      ))}
    </div>
  );
}

function FormField({ field, draft, onChange, problems, path }: Common & { readonly field: Field }) {
  const text = typeof draft === 'string' ? draft : '';
  const problem = problems.find((each) => each.path === path)?.message ?? null;
  const named = {
    label: field.isRequired ? field.label : `${field.label} (optional)`,
    ...(field.description === null ? {} : { description: field.description }),
  };
  switch (field.kind) {
    case 'object':
      return (
        <Part field={field}>
          <FormFields fields={field.fields} draft={draft} onChange={onChange} problems={problems} path={path} />
        </Part>
      );
    case 'list':
      return <ListField field={field} draft={draft} onChange={onChange} problems={problems} path={path} />;
    case 'boolean':
      if (!field.isRequired)
        return (
          <Select
            {...named}
            value={text === '' ? none : text}
            onChange={(value) => onChange(value === none ? '' : value)}
            options={[
              { value: none, label: 'Leave it out' },
              { value: 'true', label: 'Yes' },
              { value: 'false', label: 'No' },
            ]}
          />
        );
      return (
        <div className={css['check']}>
          <Checkbox isSelected={text === 'true'} onChange={(isOn) => onChange(String(isOn))}>
            {field.label}
          </Checkbox>
          {field.description !== null && <p className={css['description']}>{field.description}</p>}
        </div>
      );
    case 'choice': {
      const first = { value: none, label: field.isRequired ? 'Choose …' : 'Leave it out' };
      const options = [first, ...field.options.map(({ label }, place) => ({ value: String(place), label }))];
      return (
        <div>
          <Select
            {...named}
            value={text === '' ? none : text}
            onChange={(value) => onChange(value === none ? '' : value)}
            options={options}
          />
          {problem !== null && <p className={css['problem']}>{problem}</p>}
        </div>
      );
    }
    case 'json':
      return (
        <TextArea
          {...named}
          isMono
          value={text}
          onChange={onChange}
          errorMessage={problem}
          placeholder={field.takesText ? 'A text, or JSON' : 'JSON'}

          rows={4}
        />
      );
    case 'number':
      return (
        <TextField
          {...named}
          value={text}
          onChange={onChange}
          errorMessage={problem}
          inputMode="decimal"
          autoComplete="off"
        />
      );
    default:
      return field.isLong ? (
        <TextArea {...named} value={text} onChange={onChange} errorMessage={problem} rows={4} />
      ) : (
        <TextField
          {...named}
          value={text}
          onChange={onChange}
          errorMessage={problem}
          autoComplete="off"
          {...(field.format === null ? {} : { placeholder: field.format })}
        />
      );
  }
}

type ListOf = Extract<Field, { readonly kind: 'list' }>;

function ListField({ field, draft, onChange, problems, path }: Common & { readonly field: ListOf }) {
  const items = Array.isArray(draft) ? (draft as readonly Draft[]) : [];
  const replaced = (place: number, item: Draft): readonly Draft[] => items.map((one, n) => (n === place ? item : one));
  return (
    <Part field={field}>
      {items.map((item, place) => (
        <div key={place} className={css['item']}>
          <FormField
            field={{ ...field.item, label: `${field.label} ${place + 1}` }}
            draft={item}
            path={pathOf(path, place)}
            problems={problems}
            onChange={(next) => onChange(replaced(place, next))}
          />
          <Button
            tone="quiet"
            isSmall
            aria-label={`Remove ${field.label} ${place + 1}`}
            onPress={() => onChange(items.filter((_, n) => n !== place))}
          >
            Remove
          </Button>
        </div>
      ))}
      {items.length < field.most && (
        <div>
          <Button isSmall onPress={() => onChange([...items, draftOf(field.item, undefined)])}>
            Add {items.length === 0 ? 'one' : 'another'}
          </Button>
        </div>
      )}
    </Part>
  );
}

function Part({ field, children }: { readonly field: Field; readonly children: ReactNode }) {
  return (
    <fieldset className={css['part']}>
      <legend>{field.isRequired ? field.label : `${field.label} (optional)`}</legend>
      {field.description !== null && <p className={css['description']}>{field.description}</p>}
      {children}
    </fieldset>
  );
}
