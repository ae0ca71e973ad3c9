import { Injectable } from '@nestjs/common';
import type { Event, Rule } from '#contracts';
import { hasItemRules, itemRulesOf } from '#rules';
import { ruledEvent } from './ruled-event.js';
import { Similarities, type ComparedItem } from './similarities.js';

/** Runs the item rules of a keyword on its final events. */
@Injectable()
export class EventRules {
  constructor(private readonly similarities: Similarities) {}

  /** @returns the events in order, with the outcome of the rules; dropped events are unchanged */
  async run(rules: readonly Rule[], events: readonly Event[]): Promise<Event[]> {
    if (!hasItemRules(rules)) return [...events];
    const compiled = itemRulesOf(rules);
    const similarities = await this.similarities.of(compiled, events.map(comparedItem));
    return events.map((event, index) => ruledEvent(event, compiled, similarities[index]!));
  }
}

function comparedItem({ matched, embedding, embeddingModel, dropped }: Event): ComparedItem {
  const { title = '', text = '', titleOfParent = false } = (dropped ? undefined : matched?.item) ?? {};
  return { title, body: text, titleOfParent, embedding, embeddingModel };
}
