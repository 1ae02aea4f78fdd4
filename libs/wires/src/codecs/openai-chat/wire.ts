export const wire = 'openai-chat';

export const reasoningFields = ['reasoning_content', 'reasoning'];
