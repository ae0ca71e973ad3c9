import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { Confirm } from '../../parts/confirm.js';
import { CopyField } from '../../parts/copy-field.js';
import { Section } from '../../parts/section.js';
import { Loaded } from '../../parts/states.js';
import { Time } from '../../parts/time.js';

const SECRET = ['/v1/signing-secret'] as const;

/** The secret that signs webhooks, and its rotation. */
export function SigningSecret() {
  const queries = useQueryClient();
  const [isShown, setShown] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const secret = useQuery({
    queryKey: SECRET,
    queryFn: ({ signal }) => api.get('/v1/signing-secret', { signal }),
    enabled: isShown,
    gcTime: 0,
  });
  const rotate = useMutation({
    mutationFn: () => api.post('/v1/signing-secret/rotate'),
    onSuccess: (answer) => {
      queries.setQueryData(SECRET, answer);
      setShown(true);
      setAsking(false);
    },
  });
  return (
    <Section
      title="Signing secret"
      lead="Receivers use the secret to check the header X-Signature of each webhook."
    >
      <Stack>
        {isShown && (
          <Loaded query={secret}>
            {({ signingSecret, previousValidUntil }) => (
              <>
                <CopyField label="Secret" value={signingSecret} />
                {previousValidUntil && (
                  <Text size="sm">
                    Until <Time at={previousValidUntil} exact />, deliveries are also signed with the previous
                    secret (except an X-Signature in the legacy form).
                  </Text>
                )}
              </>
            )}
          </Loaded>
        )}
        <Group>
          {!isShown && (
            <Button variant="default" onClick={() => setShown(true)}>
              Show the secret
            </Button>
          )}
          <Button variant="default" onClick={() => setAsking(true)}>
            Rotate
          </Button>
        </Group>
      </Stack>
      {isAsking && (
        <Confirm
          title="Replace the signing secret?"
          action="Rotate"
          isPending={rotate.isPending}
          error={rotate.error}
          onConfirm={() => rotate.mutate()}
          onClose={() => setAsking(false)}
        >
          For 24 hours deliveries are signed with both secrets, so that you can change the receivers.
          Exception: in the legacy form, X-Signature has only the new secret from now on. A second rotation in
          this time ends the oldest secret immediately.
        </Confirm>
      )}
    </Section>
  );
}
