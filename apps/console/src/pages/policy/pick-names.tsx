import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import css from './pick-names.module.css';

interface Props {
  readonly label: string;
  readonly names: readonly string[];
  readonly options: readonly string[];
  /** What stands there when nothing is picked. */
  readonly none: string;
  readonly onChange: (names: readonly string[]) => void;
}

/** The first entry of the list, which picks nothing. */
const add = ' ';

/** Picks any number of names from a list. */
export function PickNames({ label, names, options, none, onChange }: Props) {
  const rest = options.filter((name) => !names.includes(name));
  return (
    <div className={css['pick']}>
      <Select
        label={label}
        value={add}
        onChange={(name) => name !== add && onChange([...names, name])}
        options={[
          { value: add, label: names.length === 0 ? none : 'Add another …' },
          ...rest.map((name) => ({ value: name, label: name })),
        ]}
      />
      {names.length > 0 && (
        <ul className={css['names']} aria-label={`${label}, picked`}>
          {names.map((name) => (
            <li key={name}>
              <Button
                isSmall
                aria-label={`Remove ${name}`}
                onPress={() => onChange(names.filter((each) => each !== name))}
              >
                {name} <span aria-hidden="true">×</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
