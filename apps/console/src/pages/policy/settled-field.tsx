import { useEffect, useState } from 'react';
import { TextField } from '../../ui/field.js';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onSettle: (value: string) => void;
  readonly description?: string;
  readonly placeholder?: string;
  readonly type?: 'text' | 'datetime-local';
}

/** A field whose text counts once one leaves it, or presses Enter. */
export function SettledField({ value, onSettle, type = 'text', ...rest }: Props) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const settle = (): void => {
    if (text.trim() !== value) onSettle(text.trim());
  };
  return (
    <TextField
      {...rest}
      type={type}
      value={text}
      onChange={setText}
      onBlur={settle}
      onKeyDown={({ key }) => key === 'Enter' && settle()}
      autoComplete="off"
    />
  );
}
