export const wire = 'bedrock';
