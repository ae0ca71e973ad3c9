import { cut, fitted, moreLine, withoutPings, type Entry, type Message, type Section } from '../message.js';

/** A run: a part of a paragraph, with one format. Teams does not parse Markdown in a run. */
export interface TextRun {
  type: 'TextRun';
  text: string;
  weight?: 'Bolder';
  size?: 'Large' | 'Small';
  isSubtle?: boolean;
  selectAction?: OpenUrl;
}
/** The link of a run, or of a button below the text. */
export interface OpenUrl {
  type: 'Action.OpenUrl';
  title?: string;
  url: string;
}
/** A paragraph of runs. */
export interface RichTextBlock {
  type: 'RichTextBlock';
  inlines: TextRun[];
  separator?: boolean;
}

/** The body of a request to a workflow webhook of Teams: a message with one Adaptive Card. */
export interface TeamsMessage {
  type: 'message';
  attachments: {
    contentType: 'application/vnd.microsoft.card.adaptive';
    contentUrl: null;
    content: {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json';
      type: 'AdaptiveCard';
      version: '1.4';
      fallbackText: string;
      body: RichTextBlock[];
      actions?: OpenUrl[];
      msteams: { width: 'Full' };
    };
  }[];
}

/** Maximum size of a message. Teams refuses messages of more than 28 KB; the difference of 2 KB is a safety margin. */
const MAX_BYTES = 26 * 1024;
const MAX_TITLE_LENGTH = 300;

/**
 * Returns the message for a workflow webhook of Teams. All texts of the body are runs, in which Teams does not parse
 * Markdown. Teams notifies a person only if a message has a mention entity. The messages made here have none, so they
 * notify nobody.
 */
export function renderTeams(message: Message): TeamsMessage {
  return fitted(
    message,
    (one) => ({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            fallbackText: cut(withoutPings(one.title), MAX_TITLE_LENGTH),
            body: bodyOf(one),
            ...(one.link && {
              actions: [{ type: 'Action.OpenUrl', title: one.link.label, url: one.link.url }],
            }),
            msteams: { width: 'Full' },
          },
        },
      ],
    }),
    (rendered) => Buffer.byteLength(JSON.stringify(rendered)) <= MAX_BYTES,
  );
}

function bodyOf({ title, sections, more, footer }: Message): RichTextBlock[] {
  const last = moreLine(more);
  return [
    block([run(cut(title, MAX_TITLE_LENGTH), { weight: 'Bolder', size: 'Large' })]),
    ...sections.flatMap(sectionBlocks),
    ...(last ? [block([run(last)])] : []),
    block([run(footer, { size: 'Small', isSubtle: true })]),
  ];
}

function sectionBlocks({ heading, lines, entries }: Section): RichTextBlock[] {
  return [
    ...(heading ? [{ ...block([run(heading, { weight: 'Bolder' })]), separator: true }] : []),
    ...lines.map((line) => block([run(line)])),
    ...entries.flatMap(entryBlocks),
  ];
}

function entryBlocks({ title, url, text, meta }: Entry): RichTextBlock[] {
  const head = run(title, {
    weight: 'Bolder',
    ...(url && { selectAction: { type: 'Action.OpenUrl', url } }),
  });
  return [
    block([head]),
    ...(meta ? [block([run(meta, { size: 'Small', isSubtle: true })])] : []),
    ...(text ? [block([run(text)])] : []),
  ];
}

function block(inlines: TextRun[]): RichTextBlock {
  return { type: 'RichTextBlock', inlines };
}

function run(text: string, look: Omit<TextRun, 'type' | 'text'> = {}): TextRun {
  return { type: 'TextRun', text: withoutPings(text) || ' ', ...look };
}
