import { ErrorPrimitive, MessagePrimitive } from '@assistant-ui/react';
import type { DataMessagePartProps, ToolCallMessagePartProps } from '@assistant-ui/react';
import { useState } from 'react';
import { decide } from './gateway';
import { gateway } from './settings';

export function UserMessage() {
  return (
    <MessagePrimitive.Root className="message user">
      <MessagePrimitive.Parts />
    </MessagePrimitive.Root>
  );
}

export function AssistantMessage() {
  return (
    <MessagePrimitive.Root className="message">
      <MessagePrimitive.Parts
        components={{
          // A tool whose results are rows has a table; add one of your own under the tool's name.
          tools: { by_name: { 'core__knowledge-query': Query }, Fallback: Call },
          data: { by_name: { approval_requested: Approval, iteration: Iteration } },
        }}
      />
      <MessagePrimitive.Error>
        <ErrorPrimitive.Root className="error">
          <ErrorPrimitive.Message />
        </ErrorPrimitive.Root>
      </MessagePrimitive.Error>
    </MessagePrimitive.Root>
  );
}

function Call({ toolName, argsText, result, isError }: ToolCallMessagePartProps) {
  return (
    <details className={isError ? 'call failed' : 'call'}>
      <summary>
        {toolName} {result === undefined ? '…' : isError ? 'failed' : 'done'}
      </summary>
      <pre>{argsText}</pre>
      {result === undefined ? null : <pre>{typeof result === 'string' ? result : JSON.stringify(result, null, 2)}</pre>}
    </details>
  );
}

type Row = Readonly<Record<string, unknown>>;

function Query(props: ToolCallMessagePartProps) {
  const { argsText, result, isError } = props;
  const found = (result as { readonly rows?: unknown } | undefined)?.rows;
  if (isError || !Array.isArray(found)) return <Call {...props} />;
  const rows = found.filter((row): row is Row => typeof row === 'object' && row !== null);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <details className="call">
      <summary>
        Query: {rows.length} {rows.length === 1 ? 'row' : 'rows'}
      </summary>
      <pre>{argsText}</pre>
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, n) => (
            <tr key={n}>
              {names.map((name) => (
                <td key={name}>{String(row[name] ?? '')}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Iteration({ data }: DataMessagePartProps<{ readonly iteration: number; readonly state: string }>) {
  return (
    <p className="iteration">
      Iteration {data.iteration}, state {data.state}
    </p>
  );
}

/** A call that waits for a decision; whether this user may decide, the gateway says. */
function Approval({ data }: DataMessagePartProps<{ readonly tool: string; readonly arguments: string }>) {
  const [said, setSaid] = useState<string | null>(null);
  const choose = (decision: 'approve' | 'refuse') => () => {
    setSaid('…');
    decide(gateway, data, decision).then(
      () => setSaid(decision === 'approve' ? 'Approved.' : 'Refused.'),
      (error: Error) => setSaid(error.message),
    );
  };
  return (
    <div className="approval">
      <p>
        May {data.tool} be called with {data.arguments}?
      </p>
      {said ?? (
        <>
          <button onClick={choose('approve')}>Approve</button> <button onClick={choose('refuse')}>Refuse</button>
        </>
      )}
    </div>
  );
}
