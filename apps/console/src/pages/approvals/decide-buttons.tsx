import type { Approval } from '@sluice/client';
import { Button } from '../../ui/button.js';
import type { Decision } from './decide-dialog.js';

interface Props {
  readonly approval: Approval;
  readonly hasKeys: boolean;
  readonly onDecide: (decision: Decision) => void;
}

/** What the person may decide; the confirming step follows. */
export function DecideButtons({ approval, hasKeys, onDecide }: Props) {
  return (
    <>
      {approval.decisions.includes('approve') && (
        <Button tone="primary" onPress={() => onDecide('approve')}>
          Approve {hasKeys && <kbd aria-hidden="true">a</kbd>}
        </Button>
      )}
      {approval.decisions.includes('refuse') && (
        <Button tone="bad" onPress={() => onDecide('refuse')}>
          Refuse {hasKeys && <kbd aria-hidden="true">r</kbd>}
        </Button>
      )}
    </>
  );
}
