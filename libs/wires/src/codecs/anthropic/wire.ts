/** On either address a part’s signature is Anthropic’s, so both wires have one name for what is echoed. */
export const wire = 'anthropic';
