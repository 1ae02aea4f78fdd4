import { Button, Dialog, DialogTrigger, Popover } from 'react-aria-components';
import type { ReactNode } from 'react';
import { terms } from './terms.js';
import type { TermName } from './terms.js';
import css from './term.module.css';

/** A word of the field with its explanation, which opens by click, touch or key. */
export function Term({ name, children }: { readonly name: TermName; readonly children?: ReactNode }) {
  const { title, text } = terms[name];
  return (
    <DialogTrigger>
      <Button className={css['term'] ?? ''}>{children ?? title}</Button>
      <Popover className={css['popover'] ?? ''} placement="bottom start">
        <Dialog className={css['dialog'] ?? ''} aria-label={title}>
          <strong>{title}</strong>
          <p>{text}</p>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
