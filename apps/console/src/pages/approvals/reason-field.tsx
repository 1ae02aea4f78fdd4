import { TextArea } from '../../ui/field.js';

interface Reason {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** An approval may go without one. */
  readonly isOptional: boolean;
  /** Where it stands afterwards. */
  readonly description: string;
}

/** Why one decides so. */
export function ReasonField({ value, onChange, isOptional, description }: Reason) {
  return (
    <TextArea
      label={isOptional ? 'Reason (optional)' : 'Reason'}
      value={value}
      onChange={onChange}
      maxLength={2_000}
      autoFocus
      description={description}
    />
  );
}

/** Arguments as far as a dialog has room for them. */
export function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}
