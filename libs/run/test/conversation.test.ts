import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import { conversationLimits, requestProblem } from '../src/index.js';

const ids = { requestId: 'r', sessionId: 's' };
const problem = (conversation: unknown): string | null =>
  requestProblem(ids, { ...make.agentRequest({ question: 'And now?' }), conversation: conversation as never });

describe('the conversation of a client in a request', () => {
  it('is a list of messages of three roles', () => {
    expect(problem(null)).toBeNull();
    expect(problem([])).toBeNull();
    expect(problem(['user', 'assistant', 'system'].map((role) => ({ role, text: 'Hello' })))).toBeNull();
    expect(problem([{ role: 'tool', text: 'Hello' }])).toBe(
      'conversation[0].role is not known: write user, assistant, system.',
    );
  });

  it('has a bound of messages, and one of bytes', () => {
    const { messages, bytes } = conversationLimits;
    const many = (count: number) => Array.from({ length: count }, () => ({ role: 'user', text: '' }));
    expect(problem(many(messages))).toBeNull();
    expect(problem(many(messages + 1))).toMatch(/^conversation has 501 messages and the limit is 500\./);
    const full = [{ role: 'user', text: 'é'.repeat(bytes / 2) }];
    expect(problem(full)).toBeNull();
    expect(problem([...full, { role: 'user', text: 'x' }])).toMatch(/^conversation has 131073 bytes of text/);
  });
});
