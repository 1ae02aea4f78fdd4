import type { ReactNode } from 'react';
import css from './tag.module.css';
import type { Tone } from './states.js';

/** A word or two with a colour that repeats what the word says. */
export function Tag({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`${css['tag']} ${css[tone]}`}>{children}</span>;
}
