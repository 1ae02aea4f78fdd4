import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { TextField } from './field.js';
import css from './filters.module.css';

/** The filters of a list, beside each other where there is room. */
export function Filters({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className={css['filters']} role="search" aria-label={label}>
      {children}
    </div>
  );
}

interface TextFilterProps {
  readonly label: string;
  /** As the address has it. */
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly placeholder?: string;
}

/** A text to filter by, which holds a moment after the last key. */
export function TextFilter({ label, value = '', onChange, placeholder }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(typed.trim() === '' ? undefined : typed.trim()), 400);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <TextField
      label={label}
      value={typed}
      onChange={setTyped}
      {...(placeholder === undefined ? {} : { placeholder })}
    />
  );
}
