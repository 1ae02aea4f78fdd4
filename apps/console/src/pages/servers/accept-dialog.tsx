import type { HeldBackTool } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Command } from '../../ui/json.js';
import { Note } from '../../ui/states.js';
import { ToolChanges } from './tool-changes.js';

interface Props {
  readonly server: string;
  /** As they were when the dialog was opened: what is allowed is what is read. */
  readonly tools: readonly HeldBackTool[];
  readonly onClose: () => void;
}

/** The step that confirms that changed tools are allowed, with what changed. */
export function AcceptDialog({ server, tools, onClose }: Props) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => sluice.servers.accept(server, { tools: tools.map(({ tool, pin }) => ({ tool, pin })) }),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries(),
  });
  const what = tools.length === 1 ? 'this tool' : `these ${tools.length} tools`;
  return (
    <Dialog
      title={`Allow ${what} of ${server} as shown?`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{error === null ? 'Not now' : 'Close'}</Button>
          <Button tone="primary" isDisabled={isPending} onPress={() => mutate()}>
            {isPending ? 'Allowing …' : 'Allow as shown'}
          </Button>
        </>
      }
    >
      {error !== null && (
        <>
          <Note tone="bad">
            <strong>Nothing was allowed.</strong> {error.message}
          </Note>
          <Command text={`npx sluice mcp approve ${server}`} />
        </>
      )}
      <p>Runs are offered them again, and models read them so. All other tools stay as they were allowed.</p>
      {tools.map((tool) => (
        <ToolChanges key={tool.tool} tool={tool} />
      ))}
    </Dialog>
  );
}
