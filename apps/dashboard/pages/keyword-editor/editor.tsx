import { Box, Button, Grid, Group, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { useNavigate } from 'react-router';
import { api, EarshotError } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import type { Keyword } from '../../api/types.js';
import { changedPart, overwrittenPart } from '../../parts/changed-part.js';
import { formPath, showFaults } from '../../parts/faults.js';
import { plural } from '../../parts/format.js';
import { notify } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { useUnsavedWarning } from '../../parts/unsaved-warning.js';
import { ChangesDialog } from './changes-dialog.js';
import { DeliverySection } from './delivery-section.js';
import {
  bodyOf,
  draftOf,
  DraftProvider,
  termFaultsOf,
  useDraftForm,
  type Draft,
  type KeywordBody,
} from './draft.js';
import { EstimatePanel } from './estimate-panel.js';
import { NoiseSection } from './noise-section.js';
import { PreviewSection } from './preview-section.js';
import { ReadingSection } from './reading-section.js';
import { RulesSection } from './rules-section.js';
import { ScheduleSection } from './schedule-section.js';
import { SourcesSection } from './sources-section.js';
import { faultsOf, useEstimate } from './use-estimate.js';
import { WhatSection } from './what-section.js';

interface Props {
  /** The keyword that is changed; undefined for a new keyword. */
  stored: Keyword | undefined;
  initial: Draft;
}

/** Shows the form of a keyword, and its price. */
export function Editor({ stored, initial }: Props) {
  const form = useDraftForm({ mode: 'controlled', initialValues: initial });
  const canEdit = useCanEdit();
  const [wasTried, setTried] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const body = useMemo(() => bodyOf(form.values), [form.values]);
  // The member's changes are compared with this version. A later read, for example after a new sign-in, must not replace it.
  const [before, setBefore] = useState(() => bodyOf(initial));
  const estimate = useEstimate(body, stored?.id);
  const isSaved = useRef(false);
  const save = useSave(stored, { before, setBefore }, form, isSaved);
  useFaultsBesideFields(form, estimate.data, wasTried);
  useUnsavedWarning(() => form.isDirty() && !isSaved.current);
  const submit = () => {
    setTried(true);
    const faults = termFaultsOf(form.values);
    if (faults.length > 0) form.setErrors({ ...form.errors, ...errorsOf(faults) });
    else if (stored) setAsking(true);
    else
      save.mutate({
        body,
        token: estimate.isCurrent && estimate.data?.valid ? estimate.data.estimateToken : undefined,
      });
  };
  return (
    <DraftProvider form={form}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, lg: 8 }}>
            <fieldset disabled={!canEdit} style={{ margin: 0, padding: 0, border: 0, minWidth: 0 }}>
              <Stack gap="lg">
                <WhatSection />
                <SourcesSection />
                <PreviewSection />
                <ReadingSection />
                <NoiseSection />
                <DeliverySection />
                <RulesSection keywordId={stored?.id} wasTried={wasTried} />
                <ScheduleSection isNew={stored === undefined} />
              </Stack>
            </fieldset>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 4 }}>
            <Box pos={{ lg: 'sticky' }} top={24}>
              <Stack>
                <EstimatePanel estimate={estimate} stored={stored} />
                {save.error && !isAsking && (
                  <Problem
                    error={save.error}
                    title="The keyword was not saved"
                    shownPaths={pathsOf(save.error)}
                  />
                )}
                <Group grow>
                  <Button type="submit" disabled={!canEdit} loading={save.isPending}>
                    {stored ? 'Review and save' : 'Create the keyword'}
                  </Button>
                </Group>
              </Stack>
            </Box>
          </Grid.Col>
        </Grid>
      </form>
      {isAsking && stored && (
        <ChangesDialog
          before={before}
          after={body}
          estimate={estimate.data}
          stored={stored}
          isPending={save.isPending}
          error={save.error}
          onSave={() => save.mutate({ body, token: undefined })}
          onClose={() => setAsking(false)}
        />
      )}
    </DraftProvider>
  );
}

const pathsOf = (error: unknown) =>
  error instanceof EarshotError ? error.details.map(({ path }) => path) : [];

type DraftForm = ReturnType<typeof useDraftForm>;

interface Compared {
  /** The version of the keyword with which the form is compared. */
  before: KeywordBody;
  setBefore: (before: KeywordBody) => void;
}

/**
 * Creates the keyword, with the token of the displayed price if there is one, or sends the changed keys. If another
 * member has changed the same keys meanwhile, shows that member's values in the list of changes instead.
 */
function useSave(
  stored: Keyword | undefined,
  { before, setBefore }: Compared,
  form: DraftForm,
  isSaved: RefObject<boolean>,
) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async ({ body, token }: { body: KeywordBody; token: string | undefined }) => {
      const headers: Record<string, string> = token === undefined ? {} : { 'service-estimate-token': token };
      if (!stored) return { ...(await api.post('/v1/keywords', { body, headers })), resetSearches: [] };
      const path = { id: stored.id };
      const present = bodyOf(draftOf(await api.get('/v1/keywords/{id}', { path })));
      const overwritten = overwrittenPart(before, body, present);
      if (Object.keys(overwritten).length > 0) {
        setBefore({ ...before, ...overwritten });
        throw new Error(
          'Another member has changed the same parts of this keyword. The list shows that member’s values. Save again to replace them with yours.',
        );
      }
      return api.patch('/v1/keywords/{id}', { path, body: changedPart(before, body) });
    },
    onSuccess: async (keyword) => {
      isSaved.current = true;
      await queries.invalidateQueries({ queryKey: ['/v1/keywords'] });
      const { length } = keyword.resetSearches;
      const startOver = `${plural(length, 'search starts', 'searches start')} over`;
      notify(length > 0 ? `Saved. ${startOver}.` : stored ? 'Saved.' : 'The keyword was created.');
      await navigate(`/keywords/${keyword.id}`);
    },
    onError: (error) => showFaults(form, error),
  });
}

const errorsOf = (faults: readonly { path: string; message: string }[]) =>
  Object.fromEntries(faults.map(({ path, message }) => [path, message]));

/**
 * Shows the faults of fields that the member has changed. After the first attempt to save, shows the faults of all
 * fields.
 */
function useFaultsBesideFields(
  form: DraftForm,
  estimate: ReturnType<typeof useEstimate>['data'],
  wasTried: boolean,
): void {
  const refused = faultsOf(estimate)
    .filter(({ path }) => path !== '')
    .map(({ path, message }) => ({ path: formPath(path), message }));
  useEffect(() => {
    // If there is only one term, the API advises the member to put it into the query. If the query is already filled, the
    // fault of the form replaces this advice.
    const faults = [...refused, ...termFaultsOf(form.values)];
    form.setErrors(errorsOf(faults.filter(({ path }) => wasTried || form.isDirty(path))));
    // The faults of a response stay until the next response. Typing in a field clears the fault of this field.
  }, [estimate, wasTried]);
}
