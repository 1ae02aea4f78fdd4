export const wire = 'openai-chat';

export const reasoningFields = ['reasoning_content', 'reasoning'];

/** Of a thought that was a part of the content, and goes back as one. */
export const asContent = 'content';
