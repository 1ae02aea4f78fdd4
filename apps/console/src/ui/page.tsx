import { useEffect } from 'react';
import type { ReactNode } from 'react';
import css from './page.module.css';

interface PageProps {
  readonly title: string;
  /** What the page is about, in a sentence. */
  readonly summary?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page: its heading, what it is about, what can be done. */
export function Page({ title, summary, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Sluice`;
  }, [title]);
  return (
    <div className={css['page']}>
      <header className={css['head']}>
        <div className={css['titles']}>
          <h1>{title}</h1>
          {summary !== undefined && <p className={css['summary']}>{summary}</p>}
        </div>
        {actions !== undefined && <div className={css['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Card({ title, actions, children }: CardProps) {
  return (
    <section className={css['card']}>
      {(title !== undefined || actions !== undefined) && (
        <header className={css['cardHead']}>
          {title !== undefined && <h2>{title}</h2>}
          {actions !== undefined && <div className={css['actions']}>{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Cards side by side where there is room. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className={css['columns']}>{children}</div>;
}

export function Stack({ children }: { readonly children: ReactNode }) {
  return <div className={css['stack']}>{children}</div>;
}

export function Row({ children }: { readonly children: ReactNode }) {
  return <div className={css['row']}>{children}</div>;
}

interface Fact {
  readonly name: ReactNode;
  readonly value: ReactNode;
}

/** Names and values, one a line. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={css['facts']}>
      {facts.map(({ name, value }, n) => (
        <div key={n}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface FigureProps {
  readonly name: ReactNode;
  readonly value: ReactNode;
  readonly note?: ReactNode;
}

/** One number that matters, large. */
export function Figure({ name, value, note }: FigureProps) {
  return (
    <div className={css['figure']}>
      <div className={css['figureName']}>{name}</div>
      <div className={css['figureValue']}>{value}</div>
      {note !== undefined && <div className={css['figureNote']}>{note}</div>}
    </div>
  );
}
