import { create } from '@bufbuild/protobuf';
import { RunAnalysisSchema } from '#contracts';
import { fakeOnly } from '#testing';
import type { AnalysedMentions } from '../analyses/analysed-mentions.js';
import type { AnalysisWork } from '../analyses/analysis-work.js';
import type { WorkCharges } from '../search/work-charges.js';
import { AnalysesHandler } from './analyses.handler.js';

afterEach(() => jest.useRealTimers());

describe('an analysis', () => {
  it('is not charged if it takes 2 minutes, because its caller has got 503', async () => {
    jest.useFakeTimers(fakeOnly('performance'));
    const mentions = { read: async () => [] };
    const work = {
      run: async () => {
        jest.advanceTimersByTime(120_000);
        return { errors: [] };
      },
    };
    const done: string[] = [];
    const charges = {
      reserve: async () => 'holder',
      release: async () => void done.push('released'),
      charge: async () => void done.push('charged'),
    };
    const handler = new AnalysesHandler(
      mentions as unknown as AnalysedMentions,
      work as unknown as AnalysisWork,
      charges as unknown as WorkCharges,
    );
    const command = create(RunAnalysisSchema, { operation: 'group', mentionIds: ['a', 'b'] });
    await expect(handler.run(command)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(done).toEqual(['released']);
  });
});
