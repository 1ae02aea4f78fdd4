import type { HeldBackTool, ToolChange } from '@sluice/client';
import { Diff } from '../../ui/diff.js';
import { Command } from '../../ui/json.js';
import { Stack } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { Term } from '../../ui/term.js';
import css from './servers.module.css';

interface Props {
  readonly server: string;
  readonly tools: readonly HeldBackTool[];
}

/** Tools that a server offers otherwise than they were allowed, with before and after, and how to allow them. */
export function HeldBack({ server, tools }: Props) {
  return (
    <Stack>
      <Note tone="warn">
        <Term name="heldBack">Held back</Term>: the server offers {tools.length === 1 ? 'a tool' : 'tools'} otherwise
        than allowed. Read what changed: a model would read it too.
      </Note>
      {tools.map((tool) => (
        <section key={tool.tool} className={css['tool']}>
          <h3>{tool.key ?? tool.tool}</h3>
          {tool.key === null && <p className={css['muted']}>How it was allowed is not known.</p>}
          {tool.changes.map((change) => (
            <Change key={change.path} change={change} tool={tool.tool} />
          ))}
          {tool.changes.length === 0 && (
            <>
              <p className={css['muted']}>Its description is now:</p>
              <Diff label={`Description of ${tool.tool}`} before="" after={tool.description} />
            </>
          )}
        </section>
      ))}
      <p>Allow them as they are now by the command, which shows the changes once more and asks:</p>
      <Command text={`npx sluice mcp approve ${server}`} />
    </Stack>
  );
}

function Change({ change: { path, was, is }, tool }: { readonly change: ToolChange; readonly tool: string }) {
  return (
    <div className={css['change']}>
      <p>
        <code>{path}</code> {was === null ? 'is new' : is === null ? 'is gone' : 'changed'}
      </p>
      <Diff label={`What changed in ${path} of ${tool}`} before={was ?? ''} after={is ?? ''} />
    </div>
  );
}
