import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { LongText } from '../../../ui/json.js';
import css from './timeline.module.css';

const firstCharacters = 240;

/** What the model said: its beginning, the rest on demand. */
export function TextLine({ text, isAnswer }: { readonly text: string; readonly isAnswer: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const isLong = text.length > firstCharacters || text.includes('\n');
  if (isOpen) return <LongText text={text} label="What the model said" />;
  return (
    <span className={css['said']}>
      <span className={css['who']}>{isAnswer ? 'Answer' : 'Model'}</span>
      <span className={css['words']}>{text.slice(0, firstCharacters)}</span>
      {isLong && (
        <Button tone="quiet" isSmall onPress={() => setIsOpen(true)}>
          All of it
        </Button>
      )}
    </span>
  );
}
