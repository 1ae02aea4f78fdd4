import { AssistantRuntimeProvider, ComposerPrimitive, ThreadPrimitive, useLocalRuntime } from '@assistant-ui/react';
import type { ChatModelAdapter, ChatModelRunResult } from '@assistant-ui/react';
import { runMessages } from './gateway';
import { AssistantMessage, UserMessage } from './messages';
import { gateway, group } from './settings';

/** Runs of one page are one session. */
const session = crypto.randomUUID();

const adapter: ChatModelAdapter = {
  async *run({ messages, abortSignal }) {
    const question = (messages.at(-1)?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    for await (const { parts, status } of runMessages(gateway, { question, session_id: session, group }, abortSignal))
      yield { content: parts, status } as ChatModelRunResult;
  },
};

export function App() {
  const runtime = useLocalRuntime(adapter);
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root className="thread">
        <ThreadPrimitive.Viewport className="viewport">
          <ThreadPrimitive.Empty>
            <p className="empty">Ask something, such as “What is the capital of Japan?”</p>
          </ThreadPrimitive.Empty>
          <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root className="composer">
          <ComposerPrimitive.Input placeholder="Your question" autoFocus />
          <ThreadPrimitive.If running={false}>
            <ComposerPrimitive.Send>Ask</ComposerPrimitive.Send>
          </ThreadPrimitive.If>
          <ThreadPrimitive.If running>
            <ComposerPrimitive.Cancel>Cancel</ComposerPrimitive.Cancel>
          </ThreadPrimitive.If>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}
