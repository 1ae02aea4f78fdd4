import type { ApprovedStep } from '@sluice/client';
import { Json } from '../../ui/json.js';
import { Tag } from '../../ui/tag.js';
import css from './approval.module.css';

/** What the run did before the call. */
export function StepsBefore({ steps }: { readonly steps: readonly ApprovedStep[] }) {
  if (steps.length === 0) return <p>Nothing: it is the first call of the run.</p>;
  return (
    <ol className={css['steps']}>
      {steps.map((step, n) => (
        <li key={n}>
          <Step step={step} />
        </li>
      ))}
    </ol>
  );
}

export function Step({ step }: { readonly step: ApprovedStep }) {
  const { iteration, tool, outcome, reason, rule, arguments: given, result } = step;
  const { edited_arguments: edited, edited_by: editor } = step;
  const isOk = outcome === 'ok';
  const head = (
    <>
      <span className={css['iteration']}>{iteration === 0 ? 'before' : iteration}</span>
      <strong>{tool}</strong>
      <Tag tone={isOk ? 'good' : 'bad'}>{isOk ? 'ok' : outcome}</Tag>
      {reason !== null && <span className={css['muted']}>{reason}</span>}
      {rule !== null && <span className={css['muted']}>by the rule {rule}</span>}
      {editor !== null && <Tag tone="accent">changed by {editor}</Tag>}
    </>
  );
  if (given === null && result === null) {
    const why = 'You could not call this tool yourself, so its arguments and result are left out.';
    return (
      <div className={css['stepHead']}>
        {head}
        <span className={css['muted']}>{why}</span>
      </div>
    );
  }
  return (
    <details className={css['step']}>
      <summary className={css['stepHead']}>{head}</summary>
      <div className={css['stepBody']}>
        <h4>Arguments</h4>
        <Json label={`Arguments of ${tool}`} value={given ?? ''} />
        {edited !== null && (
          <>
            <h4>Made with, as its approver changed it</h4>
            <Json label={`Changed arguments of ${tool}`} value={edited} />
          </>
        )}
        <h4>Result, its first 1,000 characters</h4>
        <Json label={`Result of ${tool}`} value={result ?? ''} />
      </div>
    </details>
  );
}
