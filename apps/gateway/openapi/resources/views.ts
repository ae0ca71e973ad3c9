import type { Route } from '../operation.js';
import { inPath } from '../parameters.js';
import { described, ID, INSTANT, listOf, nullable, object, ref, TEXT, type Schema } from '../schema.js';

export const viewSchemas: Readonly<Record<string, Schema>> = {
  View: object({
    id: ID,
    name: TEXT,
    query: described('The query string of the address of the dashboard’s page `/feed`', TEXT),
    createdBy: described('Id of the member; null for an API key', nullable(ID)),
    createdAt: INSTANT,
  }),
};

export const viewRoutes: readonly Route[] = [
  {
    tag: 'Views',
    method: 'get',
    path: '/v1/views',
    operationId: 'listViews',
    summary: 'List the saved views, which all members share',
    description: 'Every member of the account sees and uses all views. Free.',
    answer: object({ data: listOf(ref('View')) }),
  },
  {
    tag: 'Views',
    method: 'post',
    path: '/v1/views',
    operationId: 'createView',
    summary: 'Save filters of the dashboard’s page `/feed` as a view',
    description: 'An account has at most 200 saved views.',
    body: ref('ViewBody'),
    example: { name: 'Angry on Reddit', query: 'source=reddit&sentiment=negative' },
    status: 201,
    answer: ref('View'),
  },
  {
    tag: 'Views',
    method: 'delete',
    path: '/v1/views/{id}',
    operationId: 'deleteView',
    summary: 'Delete a saved view',
    description: 'Deletes the view for all members of the account. Free.',
    parameters: [inPath('id', 'Id of the view')],
    status: 204,
  },
];
