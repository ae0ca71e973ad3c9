import { Group, Text } from '@mantine/core';

/** The mark of Earshot, with its name. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <Group gap={9} wrap="nowrap">
      <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
        <rect width="32" height="32" rx="8" fill="#4f46e5" />
        <circle cx="11" cy="16" r="3" fill="#fff" />
        <path
          d="M17 10.5a7.8 7.8 0 0 1 0 11M21 7a12.7 12.7 0 0 1 0 18"
          fill="none"
          stroke="#fff"
          strokeWidth="2.6"
          strokeLinecap="round"
        />
      </svg>
      <Text component="span" fw={680} fz="1.05rem" lts="-0.01em">
        Earshot
      </Text>
    </Group>
  );
}
