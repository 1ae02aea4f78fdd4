import type { Subscription } from '@sluice/client';
import { sluice } from '../../data/client.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { SecretDialog } from './secret-dialog.js';
import { SubscriptionDialog } from './subscription-dialog.js';

/** What an operator is about to do, or the secret that it ended with. */
export type Action =
  | { readonly kind: 'make' }
  | { readonly kind: 'change' | 'renew' | 'delete'; readonly subscription: Subscription }
  | { readonly kind: 'secret'; readonly name: string; readonly secret: string; readonly isRenewed: boolean };

interface Props {
  readonly action: Action;
  /** Called with what comes next; null closes. */
  readonly next: (action: Action | null) => void;
}

/** The dialog of what an operator does to subscriptions. */
export function ActionDialog({ action, next }: Props) {
  const close = (): void => next(null);
  const show = (isRenewed: boolean) => (made: { readonly name: string; readonly secret: string }) =>
    next({ kind: 'secret', name: made.name, secret: made.secret, isRenewed });
  switch (action.kind) {
    case 'make':
      return <SubscriptionDialog changed={null} onClose={close} onSecret={show(false)} />;
    case 'change':
      return <SubscriptionDialog changed={action.subscription} onClose={close} onSecret={show(false)} />;
    case 'secret':
      return <SecretDialog {...action} onClose={close} />;
    case 'renew': {
      const { name } = action.subscription;
      return (
        <ConfirmDialog
          title={`Give ${name} a new secret?`}
          words={['Give it one', 'Giving …']}
          tone="primary"
          act={() => sluice.subscriptions.renewSecret(name)}
          onDone={show(true)}
          onClose={close}
        >
          <p>For a day the former secret signs too, so that its receiver can change over.</p>
        </ConfirmDialog>
      );
    }
    case 'delete': {
      const { name, behind } = action.subscription;
      const waiting = behind === null || behind === 0 ? '' : ` (${String(behind)} records)`;
      return (
        <ConfirmDialog
          title={`Delete ${name}?`}
          words={['Delete it', 'Deleting …']}
          tone="bad"
          act={() => sluice.subscriptions.delete(name)}
          onDone={close}
          onClose={close}
        >
          <p>Nothing more is sent, and what waits to be sent{waiting} is left out.</p>
        </ConfirmDialog>
      );
    }
  }
}
