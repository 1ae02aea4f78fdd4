import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { LongText } from '../../ui/json.js';
import { Note } from '../../ui/states.js';

interface Props {
  readonly name: string;
  readonly secret: string;
  /** Whether a former secret signs too. */
  readonly isRenewed: boolean;
  readonly onClose: () => void;
}

/** A secret, which is shown this once. */
export function SecretDialog({ name, secret, isRenewed, onClose }: Props) {
  return (
    <Dialog
      title={`The secret of ${name}`}
      isOpen
      onClose={onClose}
      actions={
        <Button tone="primary" onPress={onClose}>
          I have it
        </Button>
      }
    >
      <Note tone="warn">It is shown this once. Put it where the receiver verifies webhooks.</Note>
      <LongText text={secret} label={`Secret of ${name}`} />
      {isRenewed && <p>For a day webhooks are signed with the former secret too.</p>}
    </Dialog>
  );
}
