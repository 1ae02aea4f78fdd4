import type { HeldBackTool, ToolChange } from '@sluice/client';
import { Diff } from '../../ui/diff.js';
import css from './servers.module.css';

/** How a tool differs from what was allowed, before and after. */
export function ToolChanges({ tool }: { readonly tool: HeldBackTool }) {
  return (
    <section className={css['tool']}>
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
