import type { LlmReading } from '#llm';

const MAX_CHARACTERS = 60;

/**
 * Returns the question to a language model about the topic of each mention. Mentions with nearly the same topic become
 * one group.
 * @param instruction how to group the mentions; if it is empty, the model groups them by subject
 */
export function topicReading(instruction: string): LlmReading<string> {
  return {
    prompt: { name: 'group', version: '1' },
    instructions: `You sort posts into groups, for a monitoring service.
${instruction === '' ? 'Group them by what they are about.' : `How to group them: ${JSON.stringify(instruction)}.`}
"topic" names the item's group in two to five plain English words. Items of one group have the same topic, word for word.`,
    schema: {
      type: 'object',
      properties: { topic: { type: 'string', maxLength: MAX_CHARACTERS } },
      required: ['topic'],
      additionalProperties: false,
    },
    check(answer) {
      const { topic } = (answer ?? {}) as { topic?: unknown };
      const text = typeof topic === 'string' ? topic.replace(/\s+/g, ' ').trim() : '';
      if (!/[\p{L}\p{N}]/u.test(text) || text.length > MAX_CHARACTERS)
        return { fault: `"topic" must be a text of 1 to ${MAX_CHARACTERS} characters with a word` };
      return { value: text };
    },
  };
}
