export const wire = 'openai-responses';
