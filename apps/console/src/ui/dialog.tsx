import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import type { ReactNode } from 'react';
import css from './dialog.module.css';

interface Props {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** What can be done, at the end. */
  readonly actions: ReactNode;
}

export function Dialog({ title, isOpen, onClose, children, actions }: Props) {
  return (
    <ModalOverlay
      className={css['overlay'] ?? ''}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable
    >
      <Modal className={css['modal'] ?? ''}>
        <AriaDialog className={css['dialog'] ?? ''}>
          <Heading slot="title" className={css['title'] ?? ''}>
            {title}
          </Heading>
          {children}
          <div className={css['actions']}>{actions}</div>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
