import { Table } from '@mantine/core';
import { percent } from '../../parts/format.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { rankOf, type Answer } from './rank.js';

/** The names of the engines for people. */
export const ENGINES: Readonly<Record<Answer['engine'], string>> = {
  openai: 'ChatGPT (OpenAI)',
  anthropic: 'Claude (Anthropic)',
  perplexity: 'Perplexity',
  gemini: 'Gemini (Google)',
};

/** Shows for each engine how often the brand is mentioned and cited, and the rank of the brand in the last answer. */
export function EngineTable({ answers, brand }: { answers: readonly Answer[]; brand: string }) {
  const engines = [...new Set(answers.map(({ engine }) => engine))];
  return (
    <DataTable
      framed={false}
      label={`How engines answer about ${brand}`}
      head={['Engine', 'Mentioned', 'Cited', 'Rank now', 'Answers', 'Last answer']}
      minWidth={620}
    >
      {engines.map((engine) => {
        const own = answers.filter((answer) => answer.engine === engine);
        const seen = own.map((answer) => answer.brands.find((one) => one.brand === brand));
        const share = (test: (one: NonNullable<(typeof seen)[number]>) => boolean) =>
          percent(seen.filter((one) => one && test(one)).length / own.length);
        return (
          <Table.Tr key={engine}>
            <Table.Td>{ENGINES[engine]}</Table.Td>
            <Table.Td>{share(({ mentioned }) => mentioned)}</Table.Td>
            <Table.Td>{share(({ cited }) => cited)}</Table.Td>
            <Table.Td>{(own[0] && rankOf(own[0], brand)) ?? 'not named'}</Table.Td>
            <Table.Td>{own.length}</Table.Td>
            <Table.Td>
              <Time at={own[0]?.answeredAt} />
            </Table.Td>
          </Table.Tr>
        );
      })}
    </DataTable>
  );
}
