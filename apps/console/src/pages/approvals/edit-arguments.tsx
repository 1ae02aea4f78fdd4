import { TextArea } from '../../ui/field.js';
import css from './approval.module.css';
import type { Fault } from './schema-faults.js';

interface Props {
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly onChange: (text: string) => void;
}

/** The arguments of a call as JSON, to be changed, with what their schema does not take beside them. */
export function EditArguments({ text, faults, onChange }: Props) {
  return (
    <div className={css['editor']}>
      <TextArea
        label="Arguments as JSON"
        isMono
        rows={Math.min(16, Math.max(5, text.split('\n').length + 1))}
        value={text}
        onChange={onChange}
        description="What stands as [redacted], or is a secret that is left out, stays as the call has it."
      />
      <div aria-live="polite">
        {faults.length === 0 ? (
          <p className={css['muted']}>The tool’s schema takes them. The call goes through all checks again.</p>
        ) : (
          <ul className={css['faults']} aria-label="Faults">
            {faults.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path !== '' && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The arguments that were asked about as they can be changed; null where they cannot. */
export function editableText(asked: string, isPlan: boolean, isOfSeveral: boolean): string | null {
  if (isPlan || isOfSeveral) return null;
  try {
    const value: unknown = JSON.parse(asked);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? laidOut(asked, value) : null;
  } catch {
    return null;
  }
}

/** In lines, unless a number would become another one by that. */
function laidOut(asked: string, value: object): string {
  return JSON.stringify(value) === asked ? JSON.stringify(value, null, 2) : asked;
}
