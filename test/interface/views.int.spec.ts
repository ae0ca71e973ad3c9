import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';

let service: InterfaceUnderTest;
beforeAll(async () => {
  service = await startInterface();
});
afterAll(() => service?.stop());

describe('saved views', () => {
  it('are created, listed by name for the account, and deleted', async () => {
    const [ada, bob] = [await service.tenant(), await service.tenant()];
    const first = await ada.api.post('/v1/views', { name: ' Zeta ', query: '?source=reddit' });
    expect([first.status, first.body]).toEqual([
      201,
      {
        ...{ id: expect.any(String), name: 'Zeta', query: 'source=reddit' },
        ...{ createdBy: null, createdAt: expect.stringMatching(/Z$/) },
      },
    ]);
    await ada.api.post('/v1/views', { name: 'alpha', query: '' });
    const names = async () =>
      (await ada.api.get('/v1/views')).body.data.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['alpha', 'Zeta']);
    expect((await bob.api.get('/v1/views')).body.data).toEqual([]);
    expect((await bob.api.delete(`/v1/views/${first.body.id}`)).status).toBe(404);
    expect((await ada.api.delete(`/v1/views/${first.body.id}`)).status).toBe(204);
    expect(await names()).toEqual(['alpha']);
  });

  it('are refused if the name is missing, the query is too long, or the account has 200 views', async () => {
    const { api } = await service.tenant();
    const wrong = await api.post('/v1/views', { name: ' ', query: 'x'.repeat(2001) });
    expect([wrong.status, wrong.body.details.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ['name', 'query'],
    ]);
    const answers = await Promise.all(
      Array.from({ length: 201 }, (_, n) => api.post('/v1/views', { name: `view ${n}`, query: '' })),
    );
    const refused = await api.post('/v1/views', { name: 'one more', query: '' });
    expect([answers.filter(({ status }) => status === 201).length >= 200, refused.status]).toEqual([
      true,
      409,
    ]);
  });
});
