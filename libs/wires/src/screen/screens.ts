import { awsFrame, sseFrame } from '../stream/frames.js';
import type { WireName } from '../types.js';
import { ChatScreen } from './chat.js';
import { ConverseScreen } from './converse.js';
import { MessagesScreen } from './messages.js';
import { ResponsesScreen } from './responses.js';
import type { Screen, Screening } from './screen.js';

/** A screen for one answer of a wire. Gemini has none: its requests pass unchanged. */
export function createScreen(wire: WireName, screening: Screening): Screen {
  switch (wire) {
    case 'openai-chat':
      return new ChatScreen(screening);
    case 'openai-responses':
      return new ResponsesScreen(screening);
    case 'anthropic':
      return new MessagesScreen(screening, (event) =>
        sseFrame(JSON.stringify(event), typeof event['type'] === 'string' ? event['type'] : undefined),
      );
    case 'bedrock-anthropic':
      return new MessagesScreen(screening, (event) => {
        const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
        return awsFrame('chunk', JSON.stringify({ bytes }));
      });
    case 'bedrock':
      return new ConverseScreen(screening);
    case 'gemini':
      throw new Error('The tools of Gemini’s requests are not changed.');
  }
}
