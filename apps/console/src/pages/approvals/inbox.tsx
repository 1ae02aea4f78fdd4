import type { Approval, WaitingApproval } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { oneApproval } from '../../data/approvals.js';
import { Button, ToggleButton } from '../../ui/button.js';
import { Command } from '../../ui/json.js';
import { useKeys, useLetterKeys } from '../../ui/keys.js';
import { Panes } from '../../ui/panes.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { ApprovalDetail } from './approval-detail.js';
import css from './approval.module.css';
import { DecideAllDialog } from './decide-all-dialog.js';
import { DecideButtons } from './decide-buttons.js';
import { DecideDialog } from './decide-dialog.js';
import type { Decision } from './decide-dialog.js';
import { DecidedElsewhere } from './decided-elsewhere.js';
import { GiveStandingDialog } from './give-standing-dialog.js';
import { isOfSeveral } from './progress.js';
import { turnsOf } from './turns.js';
import { useInbox } from './use-inbox.js';
import { WaitingList } from './waiting-list.js';

/** The calls that wait, and the one that is open. It can be worked through by keyboard alone. */
export function Inbox() {
  const { approval: chosen } = useSearch({ from: '/approvals' });
  const navigate = useNavigate({ from: '/approvals' });
  const { waiting, error, again, gone, forget, decided } = useInbox();
  const [deciding, setDeciding] = useState<Decision | null>(null);
  const [all, setAll] = useState<{ readonly decision: Decision; readonly calls: readonly WaitingApproval[] } | null>(
    null,
  );
  const [giving, setGiving] = useState<ReturnType<typeof callerOf> | null>(null);
  const [hasKeys, setHasKeys] = useLetterKeys();
  const turns = useMemo(() => turnsOf(waiting ?? []), [waiting]);
  const open = chosen ?? turns[0]?.[0].approval.approval_id;
  const { data: opened } = useQuery({ ...oneApproval(open ?? ''), enabled: open !== undefined });

  const keys = useMemo(() => {
    const ids = turns.flat().map(({ approval }) => approval.approval_id);
    const at = open === undefined ? -1 : ids.indexOf(open);
    const go = (step: number): void => {
      const id = ids[Math.min(ids.length - 1, Math.max(0, at + step))];
      if (id === undefined) return;
      void navigate({ search: (before) => ({ ...before, approval: id }), replace: true });
      document.querySelector<HTMLElement>(`[data-approval="${CSS.escape(id)}"]`)?.focus();
    };
    const decide = (decision: Decision): void => {
      if (opened?.decision === null && opened.decisions.includes(decision)) setDeciding(decision);
    };
    return {
      ...{ j: () => go(1), ArrowDown: () => go(1), k: () => go(-1), ArrowUp: () => go(-1) },
      ...{ a: () => decide('approve'), r: () => decide('refuse') },
    };
  }, [turns, open, opened, navigate]);
  useKeys(hasKeys, keys);

  if (waiting === undefined) return error === null ? <Loading /> : <RequestProblem error={error} again={again} />;
  const notes = gone.map((asked) => (
    <DecidedElsewhere key={asked.approval_id} asked={asked} onDismiss={() => forget(asked.approval_id)} />
  ));
  const list =
    waiting.length === 0 ? (
      <Empty title="No call waits for you.">
        <p>
          A call waits here when the configuration asks for a person’s approval before it (<code>policy.approval</code>
          ). It comes up by itself.
        </p>
        <Command text="npx sluice approvals list" />
      </Empty>
    ) : (
      <WaitingList turns={turns} selected={open} onDecideAll={(decision, calls) => setAll({ decision, calls })} />
    );
  return (
    <>
      {notes}
      {waiting.length === 100 && <Note>The oldest 100 are shown. More come as these are decided.</Note>}
      {waiting.length > 0 && (
        <div className={css['keys']}>
          {hasKeys && (
            <span>
              <kbd>j</kbd> <kbd>k</kbd> next and previous · <kbd>a</kbd> approve · <kbd>r</kbd> refuse
            </span>
          )}
          <ToggleButton isSelected={hasKeys} onChange={setHasKeys}>
            Letter keys
          </ToggleButton>
        </div>
      )}
      <Panes
        label="The call"
        list={list}
        isDetailChosen={chosen !== undefined}
        onBack={() => void navigate({ search: ({ approval: _, ...before }) => before })}
        detail={
          open === undefined ? null : (
            <ApprovalDetail
              id={open}
              actions={(approval) => (
                <>
                  <DecideButtons approval={approval} hasKeys={hasKeys} onDecide={setDeciding} />
                  {mayStand(approval) && (
                    <Button tone="quiet" onPress={() => setGiving(callerOf(approval))}>
                      Approve such calls …
                    </Button>
                  )}
                </>
              )}
            />
          )
        }
      />
      {giving !== null && <GiveStandingDialog initial={giving} onClose={() => setGiving(null)} />}
      {all !== null && <DecideAllDialog {...all} onClose={() => setAll(null)} onDecided={decided} />}
      {deciding !== null && opened !== undefined && (
        <DecideDialog
          approval={opened}
          decision={deciding}
          onClose={() => setDeciding(null)}
          onDecided={() => decided(opened.approval.approval_id)}
        />
      )}
    </>
  );
}

/** Plans, and calls that need several persons, are approved each by itself. */
function mayStand(approval: Approval): boolean {
  const { decisions, asked_because: rule } = approval;
  return decisions.includes('approve') && !isOfSeveral(approval) && rule?.rule !== 'plan';
}

/** The tool of a call, and the person for whom it is made. */
function callerOf({ tool, approval: { requested_by: asker, on_behalf_of: subject } }: Approval) {
  return { tool: tool.key, user: subject ?? asker };
}
