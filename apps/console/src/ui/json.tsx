import { useState } from 'react';
import { asTyped } from '../data/command-names.js';
import { Button } from './button.js';
import { bytes } from './format.js';
import css from './json.module.css';

/** So much of a long text is drawn at first. */
const firstCharacters = 4_000;

/**
 * A value as JSON, or a text as it is: never as HTML, whatever it holds. Of a long one the beginning is drawn, the rest
 * on demand.
 */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <LongText text={typeof value === 'string' ? pretty(value) : JSON.stringify(value, null, 2)} label={label} />;
}

export function LongText({ text, label }: { readonly text: string; readonly label: string }) {
  const [shown, setShown] = useState(firstCharacters);
  const rest = text.length - shown;
  return (
    <div className={css['box']}>
      <pre className={css['text']} tabIndex={0} role="region" aria-label={label}>
        {rest > 0 ? text.slice(0, shown) : text}
      </pre>
      <div className={css['foot']}>
        {rest > 0 && (
          <Button tone="quiet" isSmall onPress={() => setShown(Math.min(text.length, shown + 200_000))}>
            Show more ({bytes(rest)} left)
          </Button>
        )}
        <CopyButton text={text} />
      </div>
    </div>
  );
}

/** Copies a text and says so. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle');
  const copy = (): void => {
    navigator.clipboard
      .writeText(text)
      .then(() => setState('copied'))
      .catch(() => setState('refused'))
      .finally(() => setTimeout(() => setState('idle'), 2_000));
  };
  const said = { idle: label, copied: 'Copied', refused: 'The browser refused' }[state];
  return (
    <Button tone="quiet" isSmall onPress={copy}>
      <span aria-live="polite">{said}</span>
    </Button>
  );
}

/** A command or another text of one line, to be copied. */
export function Command({ text: written }: { readonly text: string }) {
  const text = asTyped(written);
  return (
    <div className={css['command']}>
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}

function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 1_000_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
