const text = { type: 'string' };
const flag = { type: 'boolean' };
/**
 * Accepts these words with a small or a capital first letter: Teams ignores the case, and its documentation uses both.
 */
const oneOf = (...words: string[]) => ({
  enum: words.flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1)]),
});
const element = (type: string, required: readonly string[], properties: Record<string, object>) => ({
  type: 'object',
  required: ['type', ...required],
  additionalProperties: false,
  properties: { type: { const: type }, ...properties },
});

const OPEN_URL = element('Action.OpenUrl', ['url'], {
  ...{ id: text, title: text, iconUrl: text, style: oneOf('default', 'positive', 'destructive') },
  url: { type: 'string', pattern: '^https?://' },
});

const TEXT_STYLE = {
  color: oneOf('default', 'dark', 'light', 'accent', 'good', 'warning', 'attention'),
  fontType: oneOf('default', 'monospace'),
  isSubtle: flag,
  size: oneOf('default', 'small', 'medium', 'large', 'extraLarge'),
  weight: oneOf('default', 'lighter', 'bolder'),
};

const COMMON = {
  ...{ id: text, isVisible: flag, separator: flag },
  spacing: oneOf('default', 'none', 'small', 'medium', 'large', 'extraLarge', 'padding'),
  height: oneOf('auto', 'stretch'),
  horizontalAlignment: oneOf('left', 'center', 'right'),
};

const TEXT_RUN = element('TextRun', ['text'], {
  ...{ text: { type: 'string', minLength: 1 }, ...TEXT_STYLE, selectAction: OPEN_URL },
  ...{ highlight: flag, italic: flag, strikethrough: flag, underline: flag },
});

const CARD = element('AdaptiveCard', ['version', 'body'], {
  $schema: { enum: ['http://adaptivecards.io/schemas/adaptive-card.json'] },
  version: { enum: ['1.2', '1.3', '1.4', '1.5'] },
  body: {
    type: 'array',
    minItems: 1,
    items: {
      anyOf: [
        element('TextBlock', ['text'], {
          ...{ text: { type: 'string', minLength: 1 }, ...TEXT_STYLE, ...COMMON },
          ...{ wrap: flag, maxLines: { type: 'integer', minimum: 0 }, style: oneOf('default', 'heading') },
        }),
        element('RichTextBlock', ['inlines'], {
          ...COMMON,
          inlines: {
            type: 'array',
            minItems: 1,
            items: { anyOf: [{ type: 'string', minLength: 1 }, TEXT_RUN] },
          },
        }),
      ],
    },
  },
  // Teams shows at most six actions.
  actions: { type: 'array', maxItems: 6, items: OPEN_URL },
  ...{ fallbackText: text, speak: text, lang: text },
  msteams: {
    type: 'object',
    additionalProperties: false,
    properties: { width: { const: 'Full' }, entities: { type: 'array', items: { type: 'object' } } },
  },
});

/**
 * JSON Schema of a request to a workflow webhook of Teams, with the elements of Adaptive Cards that channels can use.
 * The schema is written from the documentation (adaptivecards.io/explorer), because no maintained package contains the
 * published schema.
 */
export const TEAMS_MESSAGE = {
  type: 'object',
  required: ['type', 'attachments'],
  additionalProperties: false,
  properties: {
    type: { const: 'message' },
    attachments: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['contentType', 'content'],
        additionalProperties: false,
        properties: {
          contentType: { const: 'application/vnd.microsoft.card.adaptive' },
          contentUrl: { type: ['string', 'null'] },
          content: CARD,
        },
      },
    },
  },
};
