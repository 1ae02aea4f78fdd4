import { ConnectionError, ProblemError } from '@sluice/client';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import css from './states.module.css';

/** What a page shows instead of its data, and beside it. */

export function Loading({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <div className={css['loading']} role="status">
      <span className={css['spinner']} aria-hidden="true" />
      {label} …
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  /** What to do, so that there is something. */
  readonly children?: ReactNode;
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div className={css['empty']}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'note' | 'accent';

/** A sentence beside the data. */
export function Note({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <div className={`${css['note']} ${css[tone]}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

interface ProblemProps {
  readonly title: string;
  readonly message: string;
  readonly again?: () => void;
}

export function Problem({ title, message, again }: ProblemProps) {
  return (
    <div className={css['problem']} role="alert">
      <h2>{title}</h2>
      <p>{message}</p>
      {again !== undefined && <Button onPress={again}>Try again</Button>}
    </div>
  );
}

/** An error of a request, in the gateway’s words. */
export function RequestProblem({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  return <Problem title={titleOf(error)} message={error.message} {...(again === undefined ? {} : { again })} />;
}

function titleOf(error: Error): string {
  if (error instanceof ConnectionError) return 'The gateway cannot be reached';
  if (!(error instanceof ProblemError)) return 'Something went wrong in this page';
  if (error.status === 403) return 'You may not see this';
  if (error.status === 404) return 'There is no such thing, or you may not see it';
  return 'The gateway refused';
}
