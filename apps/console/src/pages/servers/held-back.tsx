import type { HeldBackTool } from '@sluice/client';
import { useState } from 'react';
import { Button } from '../../ui/button.js';
import { Command } from '../../ui/json.js';
import { Row, Stack } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { Term } from '../../ui/term.js';
import { AcceptDialog } from './accept-dialog.js';
import { ToolChanges } from './tool-changes.js';

/** So many tools are allowed in one step, at most. */
const mostAtOnce = 1_000;

interface Props {
  readonly server: string;
  readonly tools: readonly HeldBackTool[];
}

/** Tools that a server offers otherwise than they were allowed, with before and after, and how to allow them. */
export function HeldBack({ server, tools }: Props) {
  const [shown, setShown] = useState<readonly HeldBackTool[] | null>(null);
  return (
    <Stack>
      <Note tone="warn">
        <Term name="heldBack">Held back</Term>: the server offers {tools.length === 1 ? 'a tool' : 'tools'} otherwise
        than allowed. Read what changed: a model would read it too.
      </Note>
      {tools.map((tool) => (
        <ToolChanges key={tool.tool} tool={tool} />
      ))}
      <Row>
        <Button onPress={() => setShown(tools.slice(0, mostAtOnce))}>Allow as they are now …</Button>
      </Row>
      <p>Or by the command, which shows the changes once more and asks:</p>
      <Command text={`npx sluice mcp approve ${server}`} />
      {shown !== null && <AcceptDialog server={server} tools={shown} onClose={() => setShown(null)} />}
    </Stack>
  );
}
