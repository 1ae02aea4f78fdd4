export const wire = 'openai-responses';

/** The phase of a message that is said on the way, and no answer. */
export const commentary = 'commentary';
