import type { Approval, AskingRuleState } from '@sluice/client';
import { useSignedIn } from '../../session/session-provider.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';
import css from './approval.module.css';

/** Whether the call waits for more than one approval in all. */
export function isOfSeveral({ progress: { rules } }: Pick<Approval, 'progress'>): boolean {
  return rules.length > 1 || rules.some(({ quorum }) => quorum > 1);
}

/** Which rules ask, how many approvals each has of those it needs, from whom they may come, and who has given one. */
export function Progress({ approval: { progress, decision } }: { readonly approval: Approval }) {
  const { me } = useSignedIn();
  const { rules, approved_by: given, still_needed: missing } = progress;
  if (rules.length === 0) return null;
  return (
    <div className={css['progress']}>
      <ul className={css['rules']} aria-label="Rules that ask">
        {rules.map((rule) => (
          <li key={`${rule.rule} ${rule.name}`}>
            <Rule rule={rule} isOpen={decision === null} />
          </li>
        ))}
      </ul>
      {given.length > 0 && (
        <ul className={css['given']} aria-label="Approvals so far">
          {given.map(({ by, at, rules: of }) => (
            <li key={by}>
              <Tag tone="good">approved</Tag> by {by === me.user ? 'you' : by} <Moment at={at} />
              {of.length > 0 && <span className={css['muted']}> for {of.join(', ')}</span>}
            </li>
          ))}
        </ul>
      )}
      {decision === null && (
        <p>{missing === 1 ? 'One more approval is' : `${missing} more approvals are`} needed. One refusal ends it.</p>
      )}
    </div>
  );
}

function Rule({ rule, isOpen }: { readonly rule: AskingRuleState; readonly isOpen: boolean }) {
  const { name, message, quorum, given, needed, approvers, escalates_at: at, escalate_to: others, escalated } = rule;
  const who = approvers.includes('*') ? 'everybody' : approvers.join(', ');
  return (
    <>
      <div className={css['stepHead']}>
        <strong>{name === '' ? 'policy.approval' : name}</strong>
        <Tag tone={needed === 0 ? 'good' : 'warn'}>
          {given} of {quorum}
        </Tag>
      </div>
      <p>{message}</p>
      <p className={css['muted']}>May approve: {who}.</p>
      {at !== null && isOpen && (
        <p className={css['muted']}>
          {escalated ? (
            <>
              It waited too long: {others.join(', ')} may approve too since <Moment at={at} />.
            </>
          ) : (
            <>
              Unless decided before, {others.join(', ')} may approve too from <Moment at={at} isExact /> on.
            </>
          )}
        </p>
      )}
    </>
  );
}
