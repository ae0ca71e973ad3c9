import { readBody } from '../../http/body.js';
import { AnalysisBodyDto, analysisFaults } from './analysis-body.dto.js';

const ID = '0190a0b0-0000-7000-8000-000000000001';
const AGENT = {
  operation: 'agent',
  mention_ids: [ID],
  instruction: 'x',
  schema: { Part_No: { type: 'string' } },
};

const read = (body: Record<string, unknown>, hasModel: boolean) =>
  readBody(AnalysisBodyDto, body, 'snake', (given) => [() => analysisFaults(given, hasModel)]);

describe('the body of an analysis', () => {
  it('keeps the spelling of the keys in its schema', () => {
    expect(read(AGENT, true).schema).toEqual({ Part_No: { type: 'string' } });
  });

  it.each(['', ' ', '\u200b', ' \u3164\u00ad'])(
    'is refused if a class is %j, which has no visible character',
    (blank) => {
      const classify = { operation: 'classify', mention_ids: [ID], classes: ['praise', blank] };
      expect(() => read(classify, false)).toThrow('classes[1]: must not be blank');
    },
  );

  it('is refused with the name of the missing setting if the analysis needs a language model', () => {
    const classify = { operation: 'classify', mention_ids: [ID], classes: ['a', 'b'] };
    expect(() => read(AGENT, false)).toThrow(/^operation: agent needs a language model.*LLM_URL/);
    expect(() => read({ ...classify, instruction: 'x' }, false)).toThrow(/^instruction: .*LLM_URL/);
    const group = { operation: 'group', mention_ids: [ID], instruction: 'by product' };
    expect(() => read(group, false)).toThrow(/^instruction: of group needs a language model.*LLM_URL/);
    expect(read(group, true).instruction).toBe('by product');
    expect(read(classify, false).classes).toEqual(['a', 'b']);
    expect(read({ ...classify, instruction: 'x' }, true).instruction).toBe('x');
  });
});
